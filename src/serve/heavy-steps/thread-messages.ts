import type { DuplicateMembers, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { UnreadMessage } from '../../contract/call/handler.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { EvaluateRequest } from '../../decide/decisions/evaluate-request.js';
import type { ForeignRequest, ForeignView } from '../../decide/memory/memory-types.js';
import type { LeafPlace } from '../../kernel/core/evaluator.js';
import type { ControlFailure } from '../../kernel/core/linked-control.js';
import type { MemoryAddition, StepIdentity } from '../../kernel/core/memory.js';
import type { SchemaMismatch } from '../../kernel/core/step-schemas.js';
import type { Detail, Stage } from '../../kernel/core/types.js';
import type { Trial } from '../../observe/explain/trial.js';
import type { EvaluationMessage } from '../evaluation/heavy-steps.js';
import type { SentError } from '../event-reading/sent-error.js';

/** An evaluator that only the process has: its checks are passed back. */
export interface ForeignEvaluator {
  readonly name: string;
  readonly external: boolean;
}

/** What the thread gets when it starts. */
export interface StepThreadData {
  /** Whether every step of an agent without enabled controls is denied. */
  readonly emptyDenies: boolean;
  readonly foreign: readonly ForeignEvaluator[];
  /** Number of compiled evaluators kept without a program. */
  readonly keepEvaluators: number;
}

/** One evaluation of a held step. */
export interface StepJob {
  readonly job: number;
  /** The message of the step, and its place there. */
  readonly message: number;
  readonly index: number;
  readonly program: number;
  /** The schemas that the step is compared with; null for none. */
  readonly schemas: number | null;
  readonly stage: Stage;
  readonly detail: Detail;
  /** What checks read of the agent, as JSON text; null if they read nothing. */
  readonly agent: string | null;
  /** For a program that depends on earlier steps; null for any other. */
  readonly remembered: JobMemory | null;
}

/** What a program is evaluated with besides the memory, which the process has. */
export interface JobMemory {
  readonly identity: StepIdentity;
  /** Of the memory. */
  readonly hashKey: Uint8Array;
  /** Whether a step that differs from its schemas is denied. */
  readonly enforcesSchemas: boolean;
}

/** What a thread wants of the memory; see `ForeignMemory`. */
export type MemoryQuestion =
  | { readonly hashKey: true }
  | { readonly load: ForeignRequest }
  | { readonly commit: number; readonly additions: readonly MemoryAddition[]; readonly allowed: boolean };

export type MemoryAnswer =
  | { readonly hashKey: Uint8Array }
  | { readonly view: ForeignView; readonly token: number }
  | { readonly result: 'committed' | 'conflict' }
  | { readonly thrown: string };

/** What a check of a foreign evaluator gave. */
export type ForeignAnswer = { readonly result: string } | { readonly thrown: string };

/** A message of Explain. */
export interface ExplainMessage extends UnreadMessage {
  readonly explain: number;
  readonly duplicates: DuplicateMembers;
}

/** What it says, but for the data of its step. */
export interface SentExplain {
  /** The other members as JSON text. */
  readonly members: string;
  readonly name: string;
  readonly sha256: string;
  /** Parts of the message without effect. */
  readonly ignored: readonly Warning[];
}

/** Explains the step of message `of`. */
export interface TrialJob {
  readonly tried: number;
  readonly of: number;
  readonly rows: readonly StoredDefinition[];
  readonly trial: Omit<Trial, 'step'>;
}

/** What the thread receives. */
export type ToThread =
  | ExplainMessage
  | TrialJob
  | ({ readonly read: number; readonly duplicates: DuplicateMembers } & EvaluationMessage)
  | { readonly evaluate: readonly StepJob[] }
  /** Asks for a held step. */
  | { readonly give: number; readonly message: number; readonly index: number }
  | { readonly program: number; readonly controls: readonly StoredDefinition[] }
  | { readonly schemas: number; readonly text: string }
  | { readonly release: number }
  | { readonly abort: number }
  | { readonly memory: number; readonly answer: MemoryAnswer }
  | { readonly answered: number; readonly answer: ForeignAnswer };

/** An evaluation of a message, without the data of its step. */
export interface ReadItem {
  readonly detail: number;
  readonly read:
    | { readonly error: SentError }
    | {
        readonly request: Omit<EvaluateRequest, 'step' | 'held'>;
        readonly type: string;
        readonly name: string;
      };
}

/** A message as the thread describes it. */
export interface ReadMessage {
  readonly id: string;
  readonly cancel: boolean;
  readonly count: number;
  readonly items: readonly ReadItem[];
}

/** The end of a reading or of a job; a verdict is JSON text. `isMissing`: what it needs has been dropped. */
export type ThreadAnswer = { readonly to: number } & MadeAnswer;

export type MadeAnswer =
  | { readonly message: ReadMessage }
  | { readonly verdict: string; readonly mismatch: SchemaMismatch | null }
  | { readonly isMissing: true }
  /** A step as JSON text. */
  | { readonly step: string }
  | SentExplain
  /** As JSON text. */
  | { readonly explanation: string }
  | { readonly error: SentError };

/** Passes something on with a number of its own; returns that and the end. Throws without the thread. */
export type PassOn = (
  message: (number: number) => ToThread,
  transfer?: readonly ArrayBuffer[],
) => { readonly number: number; readonly answer: Promise<ThreadAnswer> };

/** A check that the process has to make. Data with numbers that a thread cannot pass on are JSON text. */
export interface ForeignCheck {
  readonly check: number;
  readonly evaluator: string;
  /** The configuration as JSON text. */
  readonly config: string;
  readonly data: { readonly value: JsonValue } | { readonly json: string };
  readonly detail: Detail;
  readonly place: LeafPlace;
}

/** Checks of one evaluator since the last counts. */
export interface CheckCounts {
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  readonly timeouts: number;
  /** Durations of the asynchronous ones, in seconds. */
  readonly waits: readonly number[];
}

/** What the thread sends. */
export type FromThread =
  | { readonly answers: readonly ThreadAnswer[]; readonly counts: readonly CheckCounts[] }
  | { readonly ask: ForeignCheck }
  | { readonly drop: number }
  | { readonly memory: number; readonly question: MemoryQuestion }
  | { readonly problem: ControlFailure };
