import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { BoundedFetch } from './bounded-fetch.js';
import type { UpstreamConfig } from './config.js';
import { exactMessages, exactStdio, type Unreadable } from './exact-transport.js';

/** The way to an upstream: its address, or a process that is started with little of the environment of the gateway. */
export function transportOf(
  { url, headers, command = '', args, env, cwd, max_result_bytes: maxBytes }: UpstreamConfig,
  fetch: BoundedFetch['fetch'],
  unreadable: Unreadable,
): StreamableHTTPClientTransport | StdioClientTransport {
  if (url === undefined) {
    const inherited = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR'].flatMap((name): [string, string][] => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    });
    const transport = new StdioClientTransport({
      command,
      args,
      env: { ...Object.fromEntries(inherited), ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stderr: 'inherit',
      maxBufferSize: maxBytes,
    });
    return exactStdio(transport, maxBytes, unreadable);
  }
  return exactMessages(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch,
    }),
  );
}
