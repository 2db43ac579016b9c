/**
 * ClickHouse's HTTP interface over chdb, which is the engine of ClickHouse in this process:
 * `node server.mjs PORT DATA_DIR` prints `ready PORT` when it listens on 127.0.0.1; with port 0 it chooses one.
 *
 * Served are `/ping` and queries: in the URL with data in the body, or in the body alone; parameters (`param_NAME`),
 * settings, gzip in both directions, `default_format`, `database`, and errors with their code. Credentials are ignored.
 * The engine has one connection, so queries run one after the other, and a reply is sent as a whole.
 */
import http from 'node:http';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Session } from 'chdb';

/** Parameters of the URL that are no settings, and settings that only the real server has a use for. */
const NO_SETTINGS = new Set([
  'query',
  'query_id',
  'session_id',
  'database',
  'default_format',
  'role',
  'user',
  'password',
  'compress',
  'enable_http_compression',
  'wait_end_of_query',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'cancel_http_readonly_queries_on_client_close',
]);
const NUMBER = /^-?\d+(\.\d+)?$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const EXCEPTION = /Code: (\d+)\. (DB::Exception: [\s\S]*)/;

const [port, directory] = process.argv.slice(2);
if (port === undefined || directory === undefined) {
  console.error('usage: node server.mjs PORT DATA_DIR');
  process.exit(2);
}
const gunzip = promisify(zlib.gunzip);
const gzip = promisify(zlib.gzip);
const session = new Session(directory);
session.query('CREATE DATABASE IF NOT EXISTS default');
const version = session.query('SELECT version()', 'TabSeparatedRaw').trim();
/** The last of the queries that run one after the other. */
let last = Promise.resolve();

const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Settings and parameters of one query, as statements before it, and those that undo them. */
function statementsOf(search) {
  const before = [`USE \`${(search.get('database') || 'default').replaceAll('`', '')}\``];
  const after = [];
  for (const [name, value] of search) {
    if (NO_SETTINGS.has(name)) continue;
    if (!NAME.test(name)) throw new Error(`Code: 36. DB::Exception: Bad name ${name}. (BAD_ARGUMENTS)`);
    before.push(`SET ${name} = ${!name.startsWith('param_') && NUMBER.test(value) ? value : quoted(value)}`);
    // A parameter of an earlier query does no harm: only those named in a query are read.
    if (!name.startsWith('param_')) after.push(`SET ${name} = DEFAULT`);
  }
  return { before, after };
}

async function run(search, body) {
  const inUrl = search.get('query');
  const text = inUrl === null ? body.toString('utf8') : `${inUrl}\n${body.toString('utf8')}`;
  const { before, after } = statementsOf(search);
  const done = [];
  try {
    for (const statement of before) {
      session.query(statement);
      done.push(statement);
    }
    const result = await session.queryAsync(text, { format: search.get('default_format') ?? 'TabSeparated' });
    return { data: Buffer.from(result.bytes()), rows: result.rowsRead };
  } finally {
    for (const statement of after.slice(0, done.length)) session.query(statement);
  }
}

/** Runs one query after all earlier ones. */
function inTurn(work) {
  const result = last.then(work);
  last = result.catch(() => {});
  return result;
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  return request.headers['content-encoding'] === 'gzip' ? gunzip(body) : body;
}

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  if (request.headers['x-clickhouse-database'] !== undefined && !searchParams.has('database')) {
    searchParams.set('database', request.headers['x-clickhouse-database']);
  }
  response.setHeader('x-clickhouse-query-id', searchParams.get('query_id') ?? '');
  response.setHeader('x-clickhouse-server-display-name', 'chdb');
  response.setHeader('content-type', 'text/plain; charset=UTF-8');
  try {
    const body = await read(request);
    const { data, rows } = await inTurn(() => run(searchParams, body));
    const summary = { read_rows: String(rows ?? 0), written_rows: '0', result_rows: '0', elapsed_ns: '0' };
    response.setHeader('x-clickhouse-summary', JSON.stringify(summary));
    const isZipped = searchParams.get('enable_http_compression') === '1' && acceptsGzip(request);
    if (isZipped) response.setHeader('content-encoding', 'gzip');
    response.end(isZipped ? await gzip(data) : data);
  } catch (error) {
    const [, code = '1002', text = `DB::Exception: ${error.message}`] = EXCEPTION.exec(error.message) ?? [];
    response.statusCode = code === '516' ? 403 : code === '60' || code === '81' ? 404 : 500;
    response.setHeader('x-clickhouse-exception-code', code);
    response.end(`Code: ${code}. ${text.trim()} (version ${version} (official build))\n`);
  }
}

function acceptsGzip(request) {
  return String(request.headers['accept-encoding'] ?? '').includes('gzip');
}

const server = http.createServer({ maxHeaderSize: 2 * 1024 * 1024 }, (request, response) => {
  answer(request, response).catch((error) => response.destroy(error));
});
server.keepAliveTimeout = 10_000;
server.listen(Number(port), '127.0.0.1', () => console.log(`ready ${server.address().port}`));
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    server.close();
    server.closeAllConnections();
    void last.then(() => {
      session.close();
      process.exit(0);
    });
  });
}
