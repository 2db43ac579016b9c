/**
 * Texts for the benchmark of detectors: what agents read and write, and texts that are written to cost time. Each is made
 * of one part, repeated up to a size, so that sizes are comparable.
 */

/** Prose, code, JSON, logs and Markdown in the shares of an ordinary tool output. Every copy has another number in it. */
const TYPICAL = [
  'Hello Maria,\n\nthank you for the report of last week. The team has looked at the figures again, and the second table was out of date; the new one is attached. Please ignore my previous email, and use the totals in the new file. The meeting on Thursday begins at 14:30 in room 4.\n\nBest regards\nJonas\n\n',
  'export async function loadOrders(db, { customerId, limit = 50 }) {\n  const rows = await db.query("select id, total, placed_at from orders where customer_id = $1 order by placed_at desc limit $2", [customerId, limit]);\n  return rows.map((row) => ({ ...row, total: Number(row.total) }));\n}\n\n',
  '{"id":"9f1c2b7e-5d3a-4c1b-8e2f-6a7b8c9d0e1f","status":"shipped","total":129.95,"currency":"EUR","items":[{"sku":"A-1042","name":"Garden hose, 20 m","quantity":1},{"sku":"B-220","name":"Nozzle","quantity":2}],"url":"https://shop.example/orders/18273?lang=en"}\n',
  '2026-03-14T09:26:53.589Z INFO  worker[4] request handled method=GET path=/api/v1/customers/4711/invoices status=200 duration=12ms bytes=4821 trace=4bf92f3577b34da6a3ce929d0e0e4736\n',
  '## Installation\n\nClone the repository and run `npm install`. The service listens on port 8080; see [configuration](docs/configuration.md) for all settings. Set `DATABASE_URL` before the first start.\n\n- Node.js 20 or newer\n- PostgreSQL 15 or newer\n\n',
];

/** @param {number} length */
export function typicalText(length) {
  return repeated((index) => TYPICAL[index % TYPICAL.length] ?? '', length);
}

/**
 * The part that a hostile text repeats, by detector and name. Each makes one kind of search begin at as many places as
 * possible, or read as far as it can before it fails.
 * @type {Readonly<Record<string, Readonly<Record<string, string>>>>}
 */
export const HOSTILE_PARTS = {
  secrets: {
    'prefixes of keys': 'figd_glpat-ghp_lin_api_hvs.ntn_gsk_',
    'one prefix': 'figd_',
    'key headers': '-----BEGIN PRIVATE KEY-----\nMII',
    'key header and its content': `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEow/+'.repeat(1_300)}`,
    'addresses with a user': 'https://a:b@c.d.e.f.g.h.',
    'names of secrets': 'token=password="secret:',
    'tokens of Slack': 'xoxb-1-',
    'beginnings of JSON Web Tokens': 'eyJhbGciOiJIUzI1NiJ9.',
  },
  pii: {
    'digits of cards': '4111 1111 1111 1111 ',
    digits: '4111111111111111',
    'beginnings of addresses': 'a.b@c.d-',
    'beginnings of accounts': 'DE89 3704 GB29 ',
    'telephone numbers': '+49 30 1234',
    'network addresses': '1.2.3.4.5::a:',
  },
  url: {
    schemes: 'https://',
    'users and ports': 'http://a:b@c:8',
    'escaped hosts': 'https://%65%78ample%2ecom/?u=http%3A%2F%2F',
    'one host': 'https.www.a.b.',
  },
  shell: {
    substitutions: '$(a `b` ',
    quotes: '"$x" \'',
    pipelines: 'a | b && c; ',
    'here-documents': 'cat <<A\n',
    groups: '({ ',
  },
  injection: {
    'first words': 'ignore disregard forget ',
    'whole sentences': 'ignore all previous instructions ',
    'words of many rules': 'system prompt your all send reveal the ',
    images: '![a](https://a.b/c?{',
    'runs of base64': 'aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnMgbm93IHBsZWFzZQ= ',
    'one run of base64': 'aWdub3Jl',
    'characters that are not seen': 'i\u200bg\u{e0041}n\u202e\u{1d41a}о',
  },
};

/** @param {string} detector @param {string} name @param {number} length */
export function hostileText(detector, name, length) {
  const part = HOSTILE_PARTS[detector]?.[name];
  if (part === undefined) throw new Error(`there is no text ${name} for ${detector}`);
  return repeated(() => part, length);
}

/** @param {(index: number) => string} partAt @param {number} length */
function repeated(partAt, length) {
  const parts = [];
  let size = 0;
  for (let index = 0; size < length; index += 1) {
    const part = partAt(index);
    parts.push(part);
    size += part.length;
  }
  return parts.join('').slice(0, length);
}
