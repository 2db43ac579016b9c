import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Statement {
  readonly text: string;
  /** The settings, the name of the database, and parameters as `param_NAME`. */
  readonly settings: URLSearchParams;
}

/** Rows as text, the code of a refusal, or no answer at all. */
export type Answer = string | { readonly code: number } | 'hang up';

export interface ScriptedServer {
  readonly url: string;
  readonly statements: readonly Statement[];
  stop(): Promise<void>;
}

/** A server that keeps the statements of a client, and answers each as a function says. */
export async function startScriptedServer(
  answerOf: (statement: Statement) => Answer,
): Promise<ScriptedServer> {
  const statements: Statement[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { searchParams: settings } = new URL(request.url ?? '/', 'http://localhost');
    const statement = { text: Buffer.concat(chunks).toString().trim(), settings };
    statements.push(statement);
    const answer = answerOf(statement);
    if (answer === 'hang up') return void request.socket.destroy();
    if (typeof answer === 'string') return void response.end(answer);
    response.writeHead(400, { 'x-clickhouse-exception-code': String(answer.code) });
    response.end(`Code: ${answer.code}. DB::Exception: refused. (REFUSED) (version 26.1.1)`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    statements,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
