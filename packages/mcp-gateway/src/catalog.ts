import type { Tool } from '@modelcontextprotocol/client';
import type { ServerCapabilities } from '@modelcontextprotocol/server';
import { GatewayError, type Log, messageOf } from './errors.js';
import { createListCache, LISTS, type ListName } from './list-cache.js';
import { fits, matcherOf } from './matching.js';
import type { GatewayMetrics } from './metrics.js';
import type { PinState, Pins } from './pins.js';
import type { Upstream } from './upstream.js';
import type { ListKind } from './upstream-client.js';

/** Between the name of an upstream and that of a tool or prompt. Names of upstreams have no `_`, so the first one is it. */
const SEPARATOR = '__';

/** What a server tells models as a whole is remembered as a tool of this name. */
const INSTRUCTIONS = '(instructions)';

/** A tool as callers see it. */
export interface KnownTool {
  /** The name for callers. */
  readonly name: string;
  readonly upstream: Upstream;
  /** As the upstream tells it. */
  readonly tool: Tool;
  readonly state: PinState;
}

/** A name of a caller, resolved. */
export interface Target {
  readonly upstream: Upstream;
  /** The name as the upstream knows it. */
  readonly name: string;
}

/** What all upstreams have together. */
export interface Catalog {
  /** The union of what the upstreams that can be reached are able to do. */
  capabilities(): Promise<ServerCapabilities>;
  /** What servers tell models as a whole, as far as it is approved as tools are. */
  instructions(): readonly string[];
  /** All tools but hidden ones; those of upstreams that cannot be reached are missing. */
  tools(): Promise<readonly KnownTool[]>;
  /** A tool as it is now; undefined if there is none with this name. */
  tool(name: string): Promise<KnownTool | undefined>;
  prompts(): Promise<unknown[]>;
  /** The upstream of a prompt by its name. Throws if there is none. */
  prompt(name: string): Target;
  resources(): Promise<unknown[]>;
  resourceTemplates(): Promise<unknown[]>;
  /** The upstream of a resource. Throws if none lists it, and no template of one fits. */
  resource(uri: string): Promise<Target>;
  /** Reads a list again when it is needed next. */
  forget(upstream: string, kind: ListKind): void;
}

interface CatalogOptions {
  readonly upstreams: readonly Upstream[];
  readonly isPrefixed: boolean;
  readonly hidden: readonly string[];
  readonly pins: Pins;
  /** How old what is known of an upstream may be, in milliseconds. */
  readonly maxAgeMs: number;
  readonly log: Log;
  readonly metrics: Pick<GatewayMetrics, 'waitingTools'>;
  /** A list has come after callers had waited for it. */
  readonly onLate: (kind: ListKind) => void;
}

export function createCatalog(options: CatalogOptions): Catalog {
  const { upstreams, isPrefixed, hidden, pins, maxAgeMs, log, metrics, onLate } = options;
  const isHidden = matcherOf(hidden);
  const lists = createListCache(maxAgeMs, onLate);
  const instructions = new Map<string, string>();

  const shown = (upstream: Upstream, name: string): string =>
    isPrefixed ? upstream.name + SEPARATOR + name : name;

  function toolsOf(upstream: Upstream): Promise<ReadonlyMap<string, KnownTool>> {
    return lists.recent(upstream, 'tools', async () => {
      const tools = (await listed(upstream, 'tools')).filter(isTool);
      const description = upstream.instructions();
      const texts = description === undefined ? [] : [{ name: INSTRUCTIONS, description }];
      const states = await pins.check(upstream.name, [...tools, ...texts]);
      const state = states.get(INSTRUCTIONS);
      instructions.delete(upstream.name);
      if (description !== undefined && state === 'approved') instructions.set(upstream.name, description);
      else if (description !== undefined)
        log('warn', `the instructions of ${upstream.name} are not passed on before they are approved`, {
          state,
        });
      const all = knownTools(tools, states, upstream, (name) => shown(upstream, name));
      const waiting = all.flatMap(([, one]) => (one.state === 'approved' ? [] : one));
      for (const { name, state } of waiting)
        log('warn', `tool ${name} is not used before it is approved`, { state });
      metrics.waitingTools(upstream.name, waiting.length);
      return new Map(all.filter(([name]) => !isHidden(name)));
    });
  }

  async function listed(upstream: Upstream, member: ListName): Promise<unknown[]> {
    const { kind, method } = LISTS[member];
    const able = await upstream.capabilities();
    return able[kind] === undefined ? [] : upstream.list(method, member);
  }

  const itemsOf = (upstream: Upstream, member: ListName): Promise<Item[]> =>
    lists.recent(upstream, member, async () => (await listed(upstream, member)).filter(isItem));

  /** What each upstream has: nothing of those that cannot be reached, and what was `known` of those that are silent. */
  async function ofEach<T>(
    read: (upstream: Upstream) => Promise<Iterable<T>>,
    known: (upstream: Upstream) => Iterable<T> | undefined = () => undefined,
  ): Promise<T[]> {
    const all = await Promise.all(
      upstreams.map((upstream) =>
        read(upstream).catch((error): Iterable<T> => {
          log('warn', `upstream ${upstream.name}: ${messageOf(error)}`);
          const isSilent = error instanceof GatewayError && error.reason === 'upstreamTimeout';
          return (isSilent ? known(upstream) : undefined) ?? [];
        }),
      ),
    );
    return all.flatMap((some) => [...some]);
  }

  /** The same for a list that has no names of the gateway. */
  const itemsOfEach = (member: ListName): Promise<Item[]> =>
    ofEach(
      (upstream) => itemsOf(upstream, member),
      (upstream) => lists.lastOf<Item[]>(upstream, member),
    );

  const targetOf = (name: string) => targetIn(upstreams, isPrefixed, name);

  return {
    capabilities: async () => union(await ofEach(async (upstream) => [await upstream.capabilities()])),
    instructions: () => [...instructions.values()],
    tools: () =>
      ofEach(
        async (upstream) => (await toolsOf(upstream)).values(),
        (upstream) => lists.lastOf<ReadonlyMap<string, KnownTool>>(upstream, 'tools')?.values(),
      ),
    async tool(name) {
      const target = targetOf(name);
      return target === undefined ? undefined : (await toolsOf(target.upstream)).get(name);
    },
    prompts: () =>
      ofEach(async (upstream) =>
        (await itemsOf(upstream, 'prompts')).map((one) => ({
          ...one,
          name: shown(upstream, String(one.name)),
        })),
      ),
    prompt(name) {
      const target = targetOf(name);
      if (target !== undefined) return target;
      throw new GatewayError('invalidParams', `there is no prompt "${name}"`);
    },
    async resources() {
      const seen = new Set<unknown>();
      const all = await itemsOfEach('resources');
      // The first upstream that has it is the one that is asked for it.
      return all.filter(({ uri }) => !seen.has(uri) && seen.add(uri) !== undefined);
    },
    resourceTemplates: () => itemsOfEach('resourceTemplates'),
    async resource(uri) {
      const lists = await ofEach(async (upstream) => [
        { upstream, items: await itemsOf(upstream, 'resources') },
      ]);
      const listing = lists.find(({ items }) => items.some((one) => one.uri === uri));
      if (listing !== undefined) return { upstream: listing.upstream, name: uri };
      for (const { upstream } of lists) {
        const templates = await itemsOf(upstream, 'resourceTemplates');
        if (templates.some(({ uriTemplate }) => fits(uriTemplate, uri))) return { upstream, name: uri };
      }
      const [only] = lists;
      if (only !== undefined && upstreams.length === 1) return { upstream: only.upstream, name: uri };
      throw new GatewayError('invalidParams', `no server has the resource "${uri}"`);
    },
    forget: lists.forget,
  };
}

/** A name of a caller, resolved; undefined if no upstream has its prefix. */
function targetIn(upstreams: readonly Upstream[], isPrefixed: boolean, name: string): Target | undefined {
  const [only] = upstreams;
  if (!isPrefixed) return only === undefined ? undefined : { upstream: only, name };
  const at = name.indexOf(SEPARATOR);
  const upstream = upstreams.find((one) => one.name === name.slice(0, at));
  return upstream === undefined ? undefined : { upstream, name: name.slice(at + SEPARATOR.length) };
}

/** What at least one server is able to do, as far as the gateway passes it on. */
function union(all: readonly ServerCapabilities[]): ServerCapabilities {
  const has = (name: keyof ServerCapabilities): boolean => all.some((one) => one[name] !== undefined);
  return {
    tools: { listChanged: true },
    ...(has('resources') ? { resources: { listChanged: true } } : {}),
    ...(has('prompts') ? { prompts: { listChanged: true } } : {}),
    ...(has('completions') ? { completions: {} } : {}),
    ...(has('logging') ? { logging: {} } : {}),
  };
}

function knownTools(
  tools: readonly Tool[],
  states: ReadonlyMap<string, PinState>,
  upstream: Upstream,
  shown: (name: string) => string,
): [string, KnownTool][] {
  const times = new Map<string, number>();
  for (const { name } of tools) times.set(name, (times.get(name) ?? 0) + 1);
  return tools.map((tool): [string, KnownTool] => {
    const name = shown(tool.name);
    // A tool that is listed twice counts as changed: either of the two could be the one that is called.
    const isTwice = times.get(tool.name) !== 1;
    return [name, { name, upstream, tool, state: isTwice ? 'changed' : (states.get(tool.name) ?? 'new') }];
  });
}

interface Item {
  readonly [member: string]: unknown;
}

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null;
}

function isTool(tool: unknown): tool is Tool {
  return (
    isItem(tool) &&
    typeof tool.name === 'string' &&
    tool.name !== INSTRUCTIONS &&
    tool.name !== '' &&
    isItem(tool.inputSchema)
  );
}
