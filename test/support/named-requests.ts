import type { DescMethod } from '@bufbuild/protobuf';
import { type CallOptions, createClient, type Transport } from '@connectrpc/connect';
import { messageMapper } from '../../src/serve/connect/message-mapper.js';
import type { RpcMethod } from '../../src/serve/descriptors/rpc-methods.js';
import { exchange } from './http.js';

/** The replies to a request of an RPC over each of its JSON routes, as they arrive. */
export async function repliesOverRest(
  url: string,
  method: RpcMethod,
  request: Record<string, unknown>,
  key: string,
): Promise<Awaited<ReturnType<typeof exchange>>[]> {
  const replies: Awaited<ReturnType<typeof exchange>>[] = [];
  for (const { verb, template, pathMembers, body } of method.bindings) {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, member) =>
      encodeURIComponent(String(request[member])),
    );
    const rest = Object.entries(request).filter(([member]) => !pathMembers.includes(member));
    const query =
      body === '*'
        ? ''
        : `?${new URLSearchParams(Object.fromEntries(rest.map(([name, value]) => [name, String(value)])))}`;
    replies.push(
      await exchange(url, {
        method: verb,
        path: path + query,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: body === '*' ? JSON.stringify(Object.fromEntries(rest)) : undefined,
      }),
    );
  }
  return replies;
}

/** The replies to a request of an RPC of any kind over a transport, as plain values. Throws at once if it is no such request. */
export function repliesOver(
  transport: Transport,
  desc: DescMethod,
  request: Record<string, unknown>,
  options: CallOptions,
): AsyncGenerator<unknown> {
  return repliesTo(transport, desc, messageMapper(desc.input).fromPlain(request), options);
}

async function* repliesTo(
  transport: Transport,
  desc: DescMethod,
  message: unknown,
  options: CallOptions,
): AsyncGenerator<unknown> {
  const client = createClient(desc.parent, transport) as Record<string, unknown>;
  const call = client[desc.localName] as (input: unknown, options: CallOptions) => unknown;
  async function* items() {
    yield message;
  }
  const isStream = desc.methodKind === 'client_streaming' || desc.methodKind === 'bidi_streaming';
  const answer = call(isStream ? items() : message, options);
  const plain = (reply: unknown) => messageMapper(desc.output).toPlain(reply as never);
  if (desc.methodKind === 'unary' || desc.methodKind === 'client_streaming') yield plain(await answer);
  else for await (const reply of answer as AsyncIterable<unknown>) yield plain(reply);
}
