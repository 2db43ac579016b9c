import type { SampleService as SampleServiceDesc } from '../../../gen/proto/enforcement/v1/sample_service_pb.js';
import { type HandlerCall, type HandlersOf, streamHandler } from '../../contract/call/handler.js';
import { type AgentKey, nameOfKey } from '../../contract/call/namespace.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import { sharedTurn, TURN_MS } from '../../decide/decisions/in-turns.js';
import { createProgramBuilder } from '../../decide/decisions/program-builder.js';
import type { Stage } from '../../kernel/core/types.js';
import type { Database } from '../../storage/database/database.js';
import { markedDecisions } from '../events/marks/mark-store.js';
import { openedContent, type SampledStep } from '../samples/sample-content.js';
import { printedSample } from '../samples/sample-service.js';
import { countOf, readSamples } from '../samples/sample-store.js';
import type { SampleRow } from '../samples/sampling-rule.js';
import { type AgentSetsOptions, createAgentSets } from './agent-sets.js';
import { judge } from './judge.js';
import { createNoMemory } from './no-memory.js';
import { type ProposalOptions, readProposal } from './proposal.js';
import { createReplaySchema, type ReplayInput } from './replay-schemas.js';
import { onlyIn, ReplaySums } from './replay-sums.js';

const DEFAULT_AGE_MS = 7 * 24 * 3_600_000;
const PROGRESS_MS = 1_000;
/** Most samples of a page, and about most characters of it. */
const PAGE = 500;
const PAGE_LENGTH = 8 * 1024 * 1024;
const FIRST_PAGE = 50;

export interface ReplayOptions extends ProposalOptions, Omit<AgentSetsOptions, 'builder'> {
  readonly database: Pick<Database, 'bulk'>;
  readonly sealing: Sealing;
  readonly newExecutionId: () => string;
  /** See `ProgramBuilderOptions`. */
  readonly emptyDenies: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Evaluates samples with the controls as they are and as they would be. */
export function createReplay(
  options: ReplayOptions,
): Pick<HandlersOf<typeof SampleServiceDesc>, 'replaySamples'> {
  return {
    replaySamples: streamHandler(createReplaySchema(options.registry), (input, context) =>
      replay(input, context, options),
    ),
  };
}

async function* replay(
  input: ReplayInput,
  context: HandlerCall,
  options: ReplayOptions,
): AsyncGenerator<object> {
  const { database, sealing, now } = options;
  const { namespace } = context.principal;
  const { signal } = context;
  const proposal = await readProposal(context, input, options);
  const nowMs = now();
  const of = {
    namespace: namespace.name,
    agentName: input.agent_name === undefined ? null : namespace.agentKey(input.agent_name),
    sinceMs: input.since ?? nowMs - DEFAULT_AGE_MS,
    nowMs,
  };
  const total = Math.min(await countOf(database, of), input.max_samples);
  yield { progress: { done: 0, total } };

  /** Of the sample that is evaluated: samples are, one after another. */
  let takenAtMs = nowMs;
  const builder = createProgramBuilder({ ...options, now: () => takenAtMs, onFailure: () => {} });
  const sets = createAgentSets(namespace, proposal, { ...options, builder });
  const judging = { namespace: namespace.name, memory: createNoMemory(() => takenAtMs), signal };
  const marked = await markedDecisions(database, namespace.name);
  const sums = new ReplaySums();
  let sent = 0;
  let done = 0;
  let toldAt = performance.now();
  let began = performance.now();
  let last: SampleRow | null = null;
  let limit = FIRST_PAGE;
  while (done < total) {
    signal.throwIfAborted();
    const after = last;
    const rows: SampleRow[] = await readSamples(database, {
      ...of,
      after,
      limit: Math.min(limit, total - done),
    });
    if (rows.length === 0) break;
    last = rows.at(-1) ?? null;
    limit = pageAfter(rows);
    const page = rows.map((row) => ({ row, content: openedContent(sealing, row) }));
    await sets.prepare(page.flatMap((one) => (one.content === null ? [] : agentOf(one.row, one.content))));
    for (const { row, content } of page) {
      done += 1;
      const programs = content === null ? null : sets.of(agentOf(row, content));
      if (content === null || programs === null) {
        sums.skipped += 1;
        continue;
      }
      takenAtMs = row.takenAtMs;
      const stage = row.stage as Stage;
      const live = await judge(programs.live, programs, content, stage, judging);
      const isSame = programs.live === programs.proposed;
      const proposed = isSame ? live : await judge(programs.proposed, programs, content, stage, judging);
      sums.add(nameOfKey(row.agentName), live, proposed, marked.has(row.decisionId));
      if (live.outcome !== proposed.outcome && sent < input.max_changes) {
        sent += 1;
        yield {
          change: {
            sample: printedSample(row),
            live: live.outcome,
            proposed: proposed.outcome,
            live_reason: live.verdict.reason,
            proposed_reason: proposed.verdict.reason,
            added_controls: onlyIn(proposed.verdict, live.verdict),
            removed_controls: onlyIn(live.verdict, proposed.verdict),
          },
        };
      }
      if (performance.now() - began < TURN_MS) continue;
      if (performance.now() - toldAt >= PROGRESS_MS) {
        toldAt = performance.now();
        yield { progress: { done, total } };
      }
      await sharedTurn();
      signal.throwIfAborted();
      began = performance.now();
    }
  }
  yield { progress: { done, total } };
  yield { summary: sums.summary(sets.withMemory) };
}

function agentOf({ agentName }: SampleRow, { target }: SampledStep) {
  return { key: agentName as AgentKey, target };
}

/** Samples of the next page, if they are as long as those of this one. */
function pageAfter(rows: readonly SampleRow[]): number {
  const length = rows.reduce((sum, { content }) => sum + content.length, 0) / rows.length;
  return Math.max(1, Math.min(PAGE, Math.floor(PAGE_LENGTH / length)));
}
