/**
 * Writes `docs/api.md`: every RPC and every JSON route, who may call it, over which protocols, and the test that proves
 * it. With `--check` it writes nothing and fails when the file is not current.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getOption, hasOption } from '@bufbuild/protobuf';
import { PACKAGE_ROOT } from './compose-schema.mjs';
import { readProto } from './proto-source.mjs';

const FILE = join(PACKAGE_ROOT, 'docs', 'api.md');
const EVERY_RPC = 'test/e2e';
const NO_TEST = 'none';
/** The test of the services of adapters, which have no JSON routes. */
const ADAPTER_TEST = '`test/serve/adapters/gateways.test.ts`';

/** Routes of the host itself, which no proto file tells of, with the tests that are about them. */
const HOST_ROUTES = [
  ['GET', '/health', 'test/e2e/database-outage.system.test.ts'],
  ['GET', '/ready', 'test/e2e/database-outage.system.test.ts'],
  ['GET, HEAD', '/metrics', 'test/app/operations/metrics.test.ts'],
  ['GET', '/api/config', 'test/serve/session/session-routes.test.ts'],
  ['POST', '/api/login', 'test/serve/session/session-routes.test.ts'],
  ['POST', '/api/logout', 'test/serve/session/session-routes.test.ts'],
  ['POST', '/api/namespace', 'test/serve/auth/namespaces-of-persons.system.test.ts'],
  ['GET, HEAD', '/openapi.json', 'test/serve/openapi/docs-page.test.ts'],
  ['GET, HEAD', '/docs', 'test/serve/openapi/docs-page.test.ts'],
  ['GET, HEAD', '/redoc', 'test/serve/openapi/docs-page.test.ts'],
];

/** What keys that are limited to agents may do, by the value of the option. */
const AGENTS = { FREE: 'any', BY_AGENT: 'own', BEYOND: 'none', BY_EVALUATION: 'own' };

const UNARY = 'REST, gRPC, gRPC-Web, Connect';
const UNARY_WITHOUT_REST = 'gRPC, gRPC-Web, Connect';
const BOTH_WAYS = 'gRPC, gRPC-Web and Connect over HTTP/2';

/** Files that call RPCs by name, over every protocol. */
const scripts = readdirSync(join(PACKAGE_ROOT, EVERY_RPC))
  .filter((name) => name.startsWith('every-rpc'))
  .sort()
  .map((name) => ({ file: `${EVERY_RPC}/${name}`, text: textOf(`${EVERY_RPC}/${name}`) }));

function textOf(file) {
  const path = join(PACKAGE_ROOT, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** The file that is named like a stream, or the script that calls the RPC most often. */
function testOf(rpc, { name, methodKind }) {
  const own = `${EVERY_RPC}/${name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.test.ts`;
  if (methodKind !== 'unary' && existsSync(join(PACKAGE_ROOT, own))) return `\`${own}\``;
  const calls = ({ text }) => callsOf(rpc, text);
  const [most] = scripts.toSorted((a, b) => calls(b) - calls(a));
  return most === undefined || calls(most) === 0 ? NO_TEST : `\`${most.file}\``;
}

/** How often a script calls an RPC: alone, or several times one after the other. */
function callsOf(rpc, text) {
  const places = [...text.matchAll(new RegExp(`'${rpc}'(?:, \\[\\n(.*?)\\n  \\]\\))?`, 'gs'))];
  return places.reduce((sum, [, rows = '    [']) => sum + rows.match(/^ {4}\[/gm).length, 0);
}

function hostTest(path, file) {
  return textOf(file).includes(path) ? `\`${file}\`` : NO_TEST;
}

function protocolsOf(method, hasPath) {
  if (method.methodKind === 'bidi_streaming') return BOTH_WAYS;
  return hasPath ? UNARY : UNARY_WITHOUT_REST;
}

function rpcRows({ services, adapterServices, registry }) {
  const http = registry.getExtension('google.api.http');
  const access = registry.getExtension('enforcement.v1.access');
  const scopes = registry.getExtension('enforcement.v1.scopes');
  const agentScope = registry.getExtension('enforcement.v1.agent_scope');
  return [...services, ...adapterServices].flatMap((service) =>
    service.methods.flatMap((method) => {
      const isOfAdapter = adapterServices.includes(service);
      const rpc = `${isOfAdapter ? service.typeName : service.name}.${method.name}`;
      const level = access.enum.value[getOption(method, access)].localName.toLowerCase();
      const agents = AGENTS[agentScope.enum.value[getOption(method, agentScope)].localName];
      const rule = hasOption(method, http) ? getOption(method, http) : undefined;
      const rules = rule === undefined ? [undefined] : [rule, ...rule.additionalBindings];
      return rules.map((one) => {
        const route = one === undefined ? null : `\`${one.pattern.case.toUpperCase()} ${one.pattern.value}\``;
        const name = `${rpc}${method.deprecated ? ' (deprecated)' : ''}`;
        const scope = getOption(method, scopes).join(', ') || '–';
        return [
          name,
          route ?? '–',
          level,
          agents,
          scope,
          protocolsOf(method, route !== null),
          isOfAdapter ? ADAPTER_TEST : testOf(rpc, method),
        ];
      });
    }),
  );
}

function hostRows() {
  return HOST_ROUTES.flatMap(([methods, path, file]) =>
    methods
      .split(', ')
      .map((method) => ['–', `\`${method} ${path}\``, 'public', '–', '–', 'HTTP', hostTest(path, file)]),
  );
}

const rows = [...hostRows(), ...rpcRows(readProto())];
const table = [
  ['RPC', 'Method and path', 'Access', 'Agents', 'Scope', 'Protocols', 'Test'],
  Array(7).fill('---'),
  ...rows,
]
  .map((cells) => `| ${cells.join(' | ')} |`)
  .join('\n');
const current = `# The API

Made from the proto files by \`node scripts/api-table.mjs\`; do not edit. RPC names have \`enforcement.v1.\` in front, unless
they are those of another protocol.
\`key\` is a regular or an admin key, \`admin\` an admin key; a browser session counts as the key it was made with. Access
is checked only when keys are enabled. Agents: a key that is limited to agents may make every call (\`any\`), calls that
name its agents only (\`own\`), or no call (\`none\`). A caller needs any one of the scopes;
[security.md](security.md#roles-and-scopes) tells which roles have them. \`GET /openapi.json\` (committed as [openapi.json](openapi.json)) describes requests and replies, \`/docs\`
shows them. The files \`every-rpc.*\` are steps that \`test/e2e/every-rpc.test.ts\` plays over every protocol, on both
databases.

${table}
`;

/** The table of security.md between its marks: the scopes of every RPC, and the roles that have one of them. */
async function withRoles(page) {
  const { ROLES, scopesOf } = await import('../src/contract/call/scopes.ts').catch(
    () => import('../dist/src/contract/call/scopes.js'),
  );
  const { services, adapterServices, registry } = readProto();
  const scopes = registry.getExtension('enforcement.v1.scopes');
  const access = registry.getExtension('enforcement.v1.access');
  const rights = ROLES.map(({ name, scopes: mask }) => ({ name, scopes: scopesOf(mask) }));
  const rows = [...services, ...adapterServices].flatMap((service) =>
    service.methods.map((method) => {
      const taken = getOption(method, scopes);
      const isPublic = access.enum.value[getOption(method, access)].localName === 'PUBLIC';
      const marks = rights.map((role) =>
        isPublic || taken.some((scope) => role.scopes.includes(scope)) ? 'yes' : '',
      );
      return [`${service.name}.${method.name}`, isPublic ? 'none' : taken.join(' or '), ...marks];
    }),
  );
  const heads = ['RPC', 'Scope', ...rights.map(({ name }) => `\`${name}\``)];
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const [begin, end] = ['<!-- roles: begin -->', '<!-- roles: end -->'];
  const [before, after] = [page.split(begin)[0], page.split(end)[1]];
  return `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${after}`;
}

const SECURITY = join(PACKAGE_ROOT, 'docs', 'security.md');
const security = readFileSync(SECURITY, 'utf8');
const securityNow = await withRoles(security);
if (!process.argv.includes('--check')) writeFileSync(SECURITY, securityNow);
else if (security !== securityNow) {
  process.stderr.write('docs/security.md is not current: run "node scripts/api-table.mjs"\n');
  process.exitCode = 1;
}

if (!process.argv.includes('--check')) {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, current);
} else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== current) {
  process.stderr.write('docs/api.md is not current: run "node scripts/api-table.mjs"\n');
  process.exitCode = 1;
}
