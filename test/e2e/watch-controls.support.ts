import { create, toJson } from '@bufbuild/protobuf';
import { ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  type AgentControl,
  AgentService,
  ListAgentControlsResponseSchema,
  type WatchControlsResponse,
} from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { until } from '../support/until.js';
import { comparable } from '../support/wire-shape.js';

/** A reader of WatchControls that keeps what a client needs to decide by itself. */
export interface Watcher {
  /** Every message so far, as its kind. */
  readonly kinds: string[];
  readonly revisions: number[];
  readonly messages: WatchControlsResponse[];
  /** The controls as the messages tell them, newest id first. */
  controls(): AgentControl[];
  names(): string[];
  /** The reply of ListAgentControls as the messages tell it, in a form that can be compared. */
  list(): unknown;
  revision(): number;
  /** Waits until every change up to a revision is known. */
  reached(revision: number): Promise<void>;
  /** How the stream ended. */
  readonly ended: Promise<ConnectError | 'ended'>;
  stop(): void;
}

/** How to open a stream. */
export interface WatcherOptions {
  readonly fromRevision?: number;
  /** Goes on where another one stopped, with the controls that it had. */
  readonly after?: Watcher | undefined;
}

/** Opens a stream and reads it until it ends or is stopped. */
export function watchControls(
  transport: Transport,
  agentName: string,
  { fromRevision: given, after }: WatcherOptions = {},
): Watcher {
  const abort = new AbortController();
  const messages: WatchControlsResponse[] = [];
  const isResumed = after !== undefined && after.revision() > 0;
  const fromRevision = isResumed ? after.revision() : given;
  const held = new Map(isResumed ? after.controls().map((control) => [control.id, control]) : []);
  const take = (message: WatchControlsResponse): void => {
    messages.push(message);
    const { news } = message;
    if (news.case === 'full') held.clear();
    if (news.case === 'full') for (const control of news.value.controls) held.set(control.id, control);
    if (news.case !== 'changed') return;
    for (const control of news.value.upserted) held.set(control.id, control);
    for (const id of news.value.removed) held.delete(id);
  };
  const read = async (): Promise<ConnectError | 'ended'> => {
    const request =
      fromRevision === undefined ? { agentName } : { agentName, fromRevision: BigInt(fromRevision) };
    try {
      for await (const message of createClient(AgentService, transport).watchControls(request, {
        signal: abort.signal,
      }))
        take(message);
      return 'ended';
    } catch (error) {
      return ConnectError.from(error);
    }
  };
  const ended = read();
  const controls = () => [...held.values()].sort((left, right) => right.id - left.id);
  const revision = () => Number(messages.at(-1)?.revision ?? 0);
  return {
    messages,
    get kinds() {
      return messages.map(({ news }) => news.case ?? 'nothing');
    },
    get revisions() {
      return messages.map((message) => Number(message.revision));
    },
    controls,
    list() {
      const reply = create(ListAgentControlsResponseSchema, { controls: controls() });
      const json = toJson(ListAgentControlsResponseSchema, reply, {
        useProtoFieldName: true,
        alwaysEmitImplicit: true,
      });
      return comparable(ListAgentControlsResponseSchema, json);
    },
    names: () => controls().map(({ name }) => name),
    revision,
    async reached(wanted) {
      await until(revision, (known) => known >= wanted);
    },
    ended,
    stop: () => abort.abort(),
  };
}
