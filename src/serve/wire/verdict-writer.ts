import { toBinary } from '@bufbuild/protobuf';
import { ApprovalNoticeSchema } from '../../../gen/proto/enforcement/v1/approval_pb.js';
import { Decision } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { StepModificationSchema } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { durationParts } from '../../decide/decisions/applied-limits.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { HaltNotice } from '../../decide/halts/halt.js';
import type { AppliedLimit } from '../../kernel/core/memory.js';
import type { SchemaMismatch } from '../../kernel/core/step-schemas.js';
import type { ControlResult, EvaluatorResult, SteeringContext } from '../../kernel/core/types.js';
import type { BackwardWriter } from './backward-writer.js';
import { encodeStatus } from './encode-status.js';
import type { EvaluationOutcome, StreamReply } from './evaluation-codec.js';
import { approvalMessage, modificationMessage, OUTCOMES } from './evaluation-messages.js';
import { RpcStatus } from './rpc-status.js';
import { writeStructFields } from './struct-writer.js';

// The tags below are those of evaluation_service.proto; test/serve/wire/fields.test.ts checks them.

const DECISIONS = { deny: Decision.DENY, steer: Decision.STEER, observe: Decision.OBSERVE } as const;
const LARGEST_INT32 = 2 ** 31 - 1;

/** Fields of EvaluateStreamResponse. */
export function writeStreamReply(writer: BackwardWriter, { id, outcomes }: StreamReply): void {
  writeResults(writer, 0x12, outcomes);
  if (id !== '') writer.string(0x0a, id);
}

/** Fields of an EvaluateStreamResponse with a notice. */
export function writeNotice(writer: BackwardWriter, drainWithinMs: number): void {
  const before = writer.length;
  writeTime(writer, 0x0a, drainWithinMs);
  writer.message(0x1a, before);
}

/** Fields of EvaluateBatchResponse. */
export function writeBatchReply(writer: BackwardWriter, outcomes: readonly EvaluationOutcome[]): void {
  writeResults(writer, 0x0a, outcomes);
}

function writeResults(writer: BackwardWriter, tag: number, outcomes: readonly EvaluationOutcome[]): void {
  for (let index = outcomes.length - 1; index >= 0; index -= 1) {
    const before = writer.length;
    writeOutcome(writer, outcomes[index] as EvaluationOutcome);
    writer.message(tag, before);
  }
}

/** Fields of EvaluateStreamResult. */
function writeOutcome(writer: BackwardWriter, outcome: EvaluationOutcome): void {
  if (outcome instanceof RpcStatus) {
    writer.bytes(0x12, encodeStatus(outcome));
    return;
  }
  const before = writer.length;
  writeVerdict(writer, outcome);
  writer.message(0x0a, before);
}

/** Fields of EvaluateResponse. */
export function writeVerdict(writer: BackwardWriter, verdict: RevisedVerdict): void {
  const { decision_id } = verdict;
  // Fields 18 and 17: few verdicts have them.
  if (verdict.modification !== undefined) {
    const message = modificationMessage(verdict.modification);
    writer.farBytes(0x92, toBinary(StepModificationSchema, message));
  }
  if (verdict.approval !== undefined) {
    writer.farBytes(0x8a, toBinary(ApprovalNoticeSchema, approvalMessage(verdict.approval)));
  }
  if (verdict.halt !== undefined) writeHalt(writer, verdict.halt);
  if (verdict.limits !== undefined) writeLimits(writer, verdict.limits);
  // Counts are written when they are 0, too: absent means unknown.
  writer.varint(0x70, verdict.skipped_controls);
  if (verdict.schema_mismatch !== null) writeMismatch(writer, verdict.schema_mismatch);
  writer.varint(0x60, verdict.evaluated_controls);
  writer.varint(0x58, verdict.selected_controls);
  if (typeof decision_id !== 'string') writer.text(0x52, decision_id);
  else if (decision_id !== '') writer.string(0x52, decision_id);
  writer.varint(0x48, OUTCOMES[verdict.outcome]);
  if (verdict.staleness_seconds !== null) writer.varint(0x40, verdict.staleness_seconds);
  writeWhole(writer, 0x38, verdict.revision, Number.MAX_SAFE_INTEGER);
  writeControlResults(writer, 0x32, verdict.non_matches);
  writeControlResults(writer, 0x2a, verdict.errors);
  writeControlResults(writer, 0x22, verdict.matches);
  if (verdict.reason !== null) writer.string(0x1a, verdict.reason);
  writeDouble(writer, 0x11, verdict.confidence);
  if (verdict.is_safe) writer.varint(0x08, 1);
}

function writeHalt(writer: BackwardWriter, { haltId, reason, expiresAtMs }: HaltNotice): void {
  const before = writer.length;
  if (expiresAtMs !== null) writeTime(writer, 0x1a, expiresAtMs);
  if (reason !== '') writer.string(0x12, reason);
  writeWhole(writer, 0x08, haltId, LARGEST_INT32);
  // Field 16.
  writer.farMessage(0x82, before);
}

function writeLimits(writer: BackwardWriter, limits: readonly AppliedLimit[]): void {
  for (let index = limits.length - 1; index >= 0; index -= 1) {
    const before = writer.length;
    writeLimit(writer, limits[index] as AppliedLimit);
    writer.message(0x7a, before);
  }
}

function writeLimit(writer: BackwardWriter, limit: AppliedLimit): void {
  if (limit.sinceUs !== null) writeTime(writer, 0x5a, limit.sinceUs / 1_000);
  if (limit.key !== '') writer.string(0x52, limit.key);
  if (limit.degraded !== null) writer.string(0x4a, limit.degraded);
  if (limit.windowUs !== null) writeDuration(writer, 0x42, limit.windowUs);
  if (limit.retryAfterUs !== null) writeDuration(writer, 0x3a, limit.retryAfterUs);
  if (limit.resetsAfterUs !== null) writeDuration(writer, 0x32, limit.resetsAfterUs);
  writeDouble(writer, 0x29, limit.remaining);
  writeDouble(writer, 0x21, limit.limit);
  if (limit.evaluatorName !== '') writer.string(0x1a, limit.evaluatorName);
  if (limit.controlName !== '') writer.string(0x12, limit.controlName);
  writeWhole(writer, 0x08, limit.controlId, LARGEST_INT32);
}

function writeDuration(writer: BackwardWriter, tag: number, us: number): void {
  const { seconds, nanos } = durationParts(us);
  writeSeconds(writer, tag, seconds, nanos);
}

/** A Timestamp after 1970, or a Duration, in whole milliseconds. */
function writeTime(writer: BackwardWriter, tag: number, ms: number): void {
  const whole = Math.floor(ms);
  writeSeconds(writer, tag, Math.floor(whole / 1_000), (whole % 1_000) * 1_000_000);
}

function writeSeconds(writer: BackwardWriter, tag: number, seconds: number, nanos: number): void {
  const before = writer.length;
  writeWhole(writer, 0x10, nanos, LARGEST_INT32);
  writeWhole(writer, 0x08, seconds, Number.MAX_SAFE_INTEGER);
  writer.message(tag, before);
}

function writeMismatch(writer: BackwardWriter, mismatch: SchemaMismatch): void {
  const before = writer.length;
  if (mismatch.not_compared) writer.varint(0x20, 1);
  writer.string(0x1a, mismatch.problem);
  writer.string(0x12, mismatch.path);
  writer.string(0x0a, mismatch.part);
  writer.message(0x6a, before);
}

function writeControlResults(writer: BackwardWriter, tag: number, results: readonly ControlResult[]): void {
  for (let index = results.length - 1; index >= 0; index -= 1) {
    const before = writer.length;
    writeControlResult(writer, results[index] as ControlResult);
    writer.message(tag, before);
  }
}

function writeControlResult(writer: BackwardWriter, item: ControlResult): void {
  if (item.steering_context !== null) writeSteering(writer, 0x32, item.steering_context);
  writeEvaluatorResult(writer, 0x2a, item.result);
  writer.varint(0x20, DECISIONS[item.action]);
  if (item.control_name !== '') writer.string(0x1a, item.control_name);
  writeWhole(writer, 0x10, item.control_id, LARGEST_INT32);
  if (item.control_execution_id !== '') writer.string(0x0a, item.control_execution_id);
}

function writeEvaluatorResult(writer: BackwardWriter, tag: number, result: EvaluatorResult): void {
  const before = writer.length;
  if (result.error !== null) writer.string(0x2a, result.error);
  if (result.metadata !== null) {
    const beforeMetadata = writer.length;
    writeStructFields(writer, result.metadata);
    writer.message(0x22, beforeMetadata);
  }
  if (result.message !== null) writer.string(0x1a, result.message);
  writeDouble(writer, 0x11, result.confidence);
  if (result.matched) writer.varint(0x08, 1);
  writer.message(tag, before);
}

function writeSteering(writer: BackwardWriter, tag: number, steering: SteeringContext): void {
  const before = writer.length;
  const actions = steering.required_actions ?? [];
  for (let index = actions.length - 1; index >= 0; index -= 1) {
    writer.string(0x12, actions[index] as string);
  }
  writer.string(0x0a, steering.message);
  writer.message(tag, before);
}

/** proto3 omits 0, but not -0. */
function writeDouble(writer: BackwardWriter, tag: number, value: number): void {
  if (!Object.is(value, 0)) writer.double(tag, value);
}

function writeWhole(writer: BackwardWriter, tag: number, value: number, largest: number): void {
  if (value === 0) return;
  if (!Number.isInteger(value) || value < 0 || value > largest) {
    throw new Error(`${value} is no whole number from 0 to ${largest}`);
  }
  writer.varint(tag, value);
}
