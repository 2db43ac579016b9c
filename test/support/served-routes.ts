import type { FastifyInstance } from 'fastify';

/** Everything a server serves, as `METHOD /path/{parameter}`; what Fastify itself adds for OPTIONS left out. */
export function servedRoutes(server: FastifyInstance): string[] {
  const routes: string[] = [];
  const parents: string[] = [];
  // A colon within a part is text, and begins no parameter.
  // One line for each node of the router: indented by 4 characters for each level, then its part of the path.
  for (const line of server.printRoutes({ commonPrefix: false }).split('\n')) {
    const found = /^([│ ]*)(?:├──|└──) (.*?)(?: \(([A-Z, ]+)\))?$/u.exec(line);
    if (found === null) continue;
    const [, indent = '', part = '', methods = ''] = found;
    const level = indent.length / 4;
    parents.length = level;
    const path = parents.join('') + part;
    parents.push(part);
    for (const method of methods.split(', ')) {
      if (method !== '' && method !== 'OPTIONS')
        routes.push(`${method} ${path.replace(/(?<=\/):(\w+)/g, '{$1}')}`);
    }
  }
  return routes;
}
