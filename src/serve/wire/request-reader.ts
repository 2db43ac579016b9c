import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { EvaluationFields, OptionFields, StreamFields } from './evaluation-codec.js';
import { millisecondsOf } from './evaluation-messages.js';
import { readStep } from './step-reader.js';
import { UNUSUAL, WireReader } from './wire-reader.js';

// The tags below are those of evaluation_service.proto; test/serve/wire/fields.test.ts checks them.

/** Highest field numbers of the messages. */
const EVALUATE_FIELDS = 15;
const BATCH_FIELDS = 1;
const STREAM_FIELDS = 3;

/** Reads an EvaluateRequest. Throws UNUSUAL. */
export function readRequestMessage(bytes: Uint8Array): EvaluationFields {
  return readEvaluation(new WireReader(bytes), bytes.length);
}

/** Reads an EvaluateBatchRequest. Throws UNUSUAL. */
export function readBatchRequest(bytes: Uint8Array): EvaluationFields[] {
  const reader = new WireReader(bytes);
  const end = bytes.length;
  const evaluations: EvaluationFields[] = [];
  while (reader.position < end) {
    if (reader.tag() === 0x0a) evaluations.push(readEvaluation(reader, reader.sectionEnd(end)));
    else reader.skipUnknown(end, BATCH_FIELDS);
  }
  return evaluations;
}

/** Reads an EvaluateStreamRequest. Throws UNUSUAL. */
export function readStreamRequest(bytes: Uint8Array): StreamFields {
  const reader = new WireReader(bytes);
  const end = bytes.length;
  let id = '';
  let cancel = false;
  const evaluations: EvaluationFields[] = [];
  while (reader.position < end) {
    switch (reader.tag()) {
      case 0x0a:
        id = reader.string(end);
        break;
      case 0x12:
        evaluations.push(readEvaluation(reader, reader.sectionEnd(end)));
        break;
      case 0x18:
        cancel = reader.varint(end) !== 0;
        break;
      default:
        reader.skipUnknown(end, STREAM_FIELDS);
    }
  }
  return { id, evaluations, cancel };
}

function readEvaluation(reader: WireReader, end: number): EvaluationFields {
  let agentName = '';
  let stage = 0;
  let detail = 0;
  let minRevision = 0;
  let step: JsonObject | undefined;
  let stepJson: Uint8Array | undefined;
  let targetType: string | undefined;
  let targetId: string | undefined;
  let options: OptionsReader | null = null;
  while (reader.position < end) {
    const tag = reader.tag();
    switch (tag) {
      case 0x0a:
        agentName = reader.string(end);
        break;
      case 0x10:
        stage = reader.varint(end);
        break;
      case 0x1a:
        // Two steps are merged; a step after a step_json is not.
        if (step !== undefined) throw UNUSUAL;
        step = readStep(reader, reader.sectionEnd(end));
        stepJson = undefined;
        break;
      case 0x22:
        stepJson = reader.bytes(end);
        step = undefined;
        break;
      case 0x28:
        detail = reader.varint(end);
        break;
      case 0x30:
        minRevision = reader.longVarint(end);
        break;
      case 0x3a:
        targetType = reader.string(end);
        break;
      case 0x42:
        targetId = reader.string(end);
        break;
      case 0x4a:
      case 0x52:
      case 0x62:
      case 0x6a:
      case 0x72:
      case 0x7a:
        options ??= new OptionsReader();
        options.read(tag, reader, end);
        break;
      default:
        reader.skipUnknown(end, EVALUATE_FIELDS);
    }
  }
  return {
    agentName,
    stage,
    detail,
    step,
    minRevision,
    stepJson,
    targetType,
    targetId,
    options: options?.orNull() ?? null,
  };
}

/** Reads the optional fields of an EvaluateRequest, one at a time. */
class OptionsReader implements OptionFields {
  sessionId: string | undefined;
  stepId: string | undefined;
  traceparent: string | undefined;
  timeoutMs: number | undefined;
  accepts: number[] | undefined;
  stepError: string | undefined;

  /** Null if an empty list was the only field. */
  orNull(): OptionFields | null {
    const { sessionId, stepId, traceparent, timeoutMs, accepts, stepError } = this;
    const any = sessionId ?? stepId ?? traceparent ?? timeoutMs ?? accepts ?? stepError;
    return any === undefined ? null : this;
  }

  /** Reads the field with a tag, which has been read. */
  read(tag: number, reader: WireReader, end: number): void {
    switch (tag) {
      case 0x4a:
        this.sessionId = reader.string(end);
        break;
      case 0x52:
        this.stepId = reader.string(end);
        break;
      case 0x62:
        this.traceparent = reader.string(end);
        break;
      case 0x6a:
        // Two durations are merged.
        if (this.timeoutMs !== undefined) throw UNUSUAL;
        this.timeoutMs = readDuration(reader, reader.sectionEnd(end));
        break;
      case 0x7a:
        this.stepError = reader.string(end);
        break;
      default:
        this.accepts = readPacked(reader, reader.sectionEnd(end), this.accepts);
    }
  }
}

/** Highest field number of Duration. */
const DURATION_FIELDS = 2;

/** Reads a google.protobuf.Duration in milliseconds; negative ones are unusual. */
function readDuration(reader: WireReader, end: number): number {
  let seconds = 0;
  let nanos = 0;
  while (reader.position < end) {
    switch (reader.tag()) {
      case 0x08:
        seconds = reader.longVarint(end);
        break;
      case 0x10:
        nanos = reader.longVarint(end);
        break;
      default:
        reader.skipUnknown(end, DURATION_FIELDS);
    }
  }
  // An int32 of more bits is cut off.
  if (nanos > 0x7fffffff) throw UNUSUAL;
  return millisecondsOf(seconds, nanos);
}

/** Adds the enum values of a list in packed form, the usual one. */
function readPacked(reader: WireReader, end: number, before: number[] | undefined): number[] | undefined {
  let values = before;
  while (reader.position < end) {
    values ??= [];
    values.push(reader.varint(end));
  }
  return values;
}
