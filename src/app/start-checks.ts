import { createServer } from 'node:net';
import type { Config } from '../config/config.js';
import { checkStartFiles } from './live-files.js';

/**
 * Checks everything that needs no database, before one is created or migrated: keys file, certificates and ports.
 * Throws an Error with the variable, what is wrong with it, and what to do.
 */
export async function checkStart(config: Config): Promise<void> {
  checkStartFiles(config);
  await demandFreePort('SERVICE_PORT', 'SERVICE_HOST', config.host, config.port);
  const { operations } = config;
  if (operations !== null)
    await demandFreePort(
      'SERVICE_OPERATIONS_PORT',
      'SERVICE_OPERATIONS_HOST',
      operations.host,
      operations.port,
    );
}

/** Listens for a moment. Another program may still take the port before the service does. */
async function demandFreePort(
  variable: string,
  hostVariable: string,
  host: string,
  port: number,
): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (cause) {
    throw new Error(portProblem(cause, variable, hostVariable, host, port));
  } finally {
    server.close();
  }
}

/** What an error of `listen` means. */
function portProblem(
  cause: unknown,
  variable: string,
  hostVariable: string,
  host: string,
  port: number,
): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return `${variable}: port ${port} of ${host} is in use by another program (${code}); stop that program, or set another port, for example ${variable}=${nextTo(port)}`;
    case 'EACCES':
      return `${variable}: this user may not listen at port ${port} (${code}); set one above 1023, for example ${variable}=8000`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostVariable}: ${host} is no address of this machine (${code}); for example ${hostVariable}=127.0.0.1`;
    default:
      return `${variable}: port ${port} of ${host} cannot be used (${message})`;
  }
}

function nextTo(port: number): number {
  return port === 65_535 ? port - 1 : port + 1;
}
