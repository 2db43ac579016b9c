import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';

/** What a client contacts for each text, by the text's number: hosts as they are in the request, without port. */
export type Contacts = (texts: readonly string[]) => Promise<Map<number, string[]>>;

/** An HTTP proxy that answers every request itself and keeps which host it was for. */
async function startProxy() {
  const contacts = new Map<number, string[]>();
  const answer = (socket: Socket, head: string) => {
    const host = /^host: *(.*)$/im.exec(head)?.[1]?.trim() ?? '';
    // wget has no header for each URL: the number is in the names that the texts are made of.
    const number = Number(/^x-index: *(\d+)/im.exec(head)?.[1] ?? /n(\d+)\./i.exec(head)?.[1] ?? -1);
    contacts.set(number, [...(contacts.get(number) ?? []), withoutPort(host)]);
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  };
  const server = createServer((socket) => {
    let given = '';
    socket.setEncoding('utf8').on('data', (part) => {
      given += part;
      for (let end = given.indexOf('\r\n\r\n'); end >= 0; end = given.indexOf('\r\n\r\n')) {
        answer(socket, given.slice(0, end));
        given = given.slice(end + 4);
      }
    });
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return { contacts, url: `http://127.0.0.1:${address.port}`, stop: () => server.close() };
}

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}

async function run(program: string, words: readonly string[], input = ''): Promise<string> {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'], env: { PATH: process.env.PATH } });
  child.stdin.on('error', () => undefined).end(input);
  const [output] = await Promise.all([textOf(child.stdout), once(child, 'close')]);
  return output;
}

const quoted = (text: string) =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;

/** So many URLs that curl expands are tried, each by a process of its own: a mistake in one would end the others. */
const EXPANDED = 500;

/** The command curl, on all texts without what it expands in URLs, and on some with it. */
export const byCurl: Contacts = async (texts) => {
  const proxy = await startProxy();
  const folder = await mkdtemp(path.join(tmpdir(), 'url-clients-'));
  const options = [
    'silent',
    'output = "/dev/null"',
    'max-time = 20',
    'proto = "=http"',
    `proxy = "${proxy.url}"`,
  ];
  const sectionOf = (text: string, number: number) =>
    [`url = ${quoted(text)}`, `header = "X-Index: ${number}"`, ...options].join('\n');
  try {
    const file = path.join(folder, 'curlrc');
    const all = texts.map((text, number) => `${sectionOf(text, number)}\ngloboff\n`);
    await writeFile(file, all.join('next\n'));
    await run('curl', ['--disable', '--config', file]);
    const expanded = [...texts.entries()].filter(([, text]) => /[{[]/.test(text)).slice(0, EXPANDED);
    for (const [number, text] of expanded) {
      await run('curl', ['--disable', '--config', '-'], sectionOf(text, number));
    }
    return proxy.contacts;
  } finally {
    proxy.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

const URLS_AT_ONCE = 200;

/** The command wget. */
export const byWget: Contacts = async (texts) => {
  const proxy = await startProxy();
  const settings = [
    'use_proxy=yes',
    `http_proxy=${proxy.url}`,
    `https_proxy=${proxy.url}`,
    `ftp_proxy=${proxy.url}`,
  ];
  const options = [
    '--no-config',
    '-q',
    '-O',
    '/dev/null',
    '-t',
    '1',
    ...settings.flatMap((one) => ['-e', one]),
  ];
  try {
    for (let from = 0; from < texts.length; from += URLS_AT_ONCE) {
      await run('wget', [...options, '--', ...texts.slice(from, from + URLS_AT_ONCE)]);
    }
    return proxy.contacts;
  } finally {
    proxy.stop();
  }
};

const PYTHON = `
import http.client, json, sys, urllib.parse, urllib.request
found = []
for text in json.load(sys.stdin):
    hosts = []
    try:
        request = urllib.request.Request(text)
        if request.host:
            hosts.append(http.client.HTTPConnection(request.host).host)
    except Exception:
        pass
    try:
        hosts.append(urllib.parse.urlsplit(text).hostname or '')
    except Exception:
        pass
    found.append([host for host in hosts if host])
print(json.dumps(found))
`;

/** Python's urllib: the host that it opens, and the one that its parser says. */
export const byPython: Contacts = async (texts) => {
  const output = await run('/usr/bin/python3', ['-I', '-c', PYTHON], JSON.stringify(texts));
  const hosts = JSON.parse(output) as string[][];
  return new Map(hosts.map((each, number) => [number, each.map((host) => host.toLowerCase())]));
};
