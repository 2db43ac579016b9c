import { createServer } from 'node:net';
import type { Config } from '../../contract/config/config.js';
import { demandNodeInternals } from '../../contract/runtime/node-internals.js';
import { checkStartFiles } from './live-files.js';

/**
 * Checks everything that needs no database, before one is created or migrated: Node.js, keys file, certificates and
 * ports. Throws an Error with the variable, what is wrong with it, and what to do.
 */
export async function checkStart(config: Config): Promise<void> {
  demandNodeInternals();
  checkStartFiles(config);
  const { host, port, operations } = config;
  await demandFree({ prefix: 'SERVICE', host, port });
  if (operations !== null) await demandFree({ prefix: 'SERVICE_OPERATIONS', ...operations });
}

/** An address to listen at; `prefix` is that of its variables, before `_HOST` and `_PORT`. */
interface Place {
  readonly prefix: string;
  readonly host: string;
  readonly port: number;
}

/** Listens for a moment. Another program may still take the port before the service does. */
async function demandFree(place: Place): Promise<void> {
  const { host, port } = place;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (cause) {
    throw new Error(problemOf(cause as NodeJS.ErrnoException, place));
  }
  await new Promise((resolve) => server.close(resolve));
}

/** What an error of `listen` means. */
function problemOf({ code = '', message }: NodeJS.ErrnoException, { prefix, host, port }: Place): string {
  switch (code) {
    case 'EADDRINUSE':
      return `${prefix}_PORT: port ${port} of ${host} is in use by another program (${code}); stop that program, or set another port, for example ${prefix}_PORT=${nextTo(port)}`;
    case 'EACCES':
      return `${prefix}_PORT: this user may not listen at port ${port} (${code}); set one above 1023, for example ${prefix}_PORT=8000`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${prefix}_HOST: ${host} is no address of this machine (${code}); for example ${prefix}_HOST=127.0.0.1`;
    default:
      return `${prefix}_PORT: port ${port} of ${host} cannot be used (${message})`;
  }
}

function nextTo(port: number): number {
  return port === 65_535 ? port - 1 : port + 1;
}
