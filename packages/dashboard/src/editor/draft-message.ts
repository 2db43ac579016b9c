import { create, fromJson, type MessageInitShape } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  type ConditionSchema,
  type ControlDefinition,
  ControlDefinitionSchema,
  Decision,
  Execution,
  Stage,
} from '@gen/enforcement/v1/control_pb.js';
import type { JsonObject } from './json.js';
import { MemberReader } from './member-reader.js';
import type { DraftProblem } from './problem.js';

const DECISIONS = { deny: Decision.DENY, steer: Decision.STEER, observe: Decision.OBSERVE };
const EXECUTIONS = { server: Execution.SERVER, sdk: Execution.SDK };
const STAGES = { pre: Stage.PRE, post: Stage.POST };

/** A draft as a message, and what the message cannot carry. */
export interface DraftMessage {
  readonly message: ControlDefinition;
  readonly problems: readonly DraftProblem[];
}

/**
 * Converts a draft in the form of the JSON routes. Values of a wrong type are errors. Members that do not exist are
 * warnings: over RPCs they cannot be sent. Everything else is left to the server to check.
 */
export function draftMessage(draft: JsonObject): DraftMessage {
  const problems: DraftProblem[] = [];
  const reader = new MemberReader(draft, 'data', problems);
  const message = create(ControlDefinitionSchema, {
    ...defined('description', reader.text('description')),
    ...defined('enabled', reader.flag('enabled')),
    execution: reader.word('execution', EXECUTIONS) ?? Execution.UNSPECIFIED,
    tags: reader.texts('tags'),
    ...defined('condition', reader.object('condition', readCondition)),
    ...defined('scope', reader.object('scope', readScope)),
    ...defined('action', reader.object('action', readAction)),
  });
  reader.end();
  return { message, problems };
}

function readScope(reader: MemberReader) {
  return {
    stepTypes: reader.texts('step_types'),
    stepNames: reader.texts('step_names'),
    ...defined('stepNameRegex', reader.text('step_name_regex')),
    stages: reader.words('stages', STAGES),
  };
}

function readAction(reader: MemberReader) {
  return {
    decision: reader.word('decision', DECISIONS) ?? Decision.UNSPECIFIED,
    ...defined(
      'steeringContext',
      reader.object('steering_context', (context) => ({
        ...defined('message', context.text('message')),
        requiredActions: context.texts('required_actions'),
      })),
    ),
    ...defined('metadata', reader.free('metadata')),
    ...defined('approval', reader.object('approval', readApproval)),
    modify: reader.objects('modify', readChange) ?? [],
  };
}

function readApproval(reader: MemberReader) {
  const free = (name: string) => {
    const value = reader.any(name);
    return value === undefined ? undefined : fromJson(ValueSchema, value);
  };
  return {
    approvers: reader.texts('approvers'),
    ...defined('quorum', reader.whole('quorum')),
    ...defined('expiresSeconds', reader.whole('expires_seconds')),
    ...defined('bind', free('bind')),
    ...defined('reuse', free('reuse')),
    ...defined('question', reader.text('question')),
    ...defined('separate', reader.flag('separate')),
  };
}

function readChange(reader: MemberReader) {
  return {
    ...defined('path', reader.text('path')),
    ...defined('replace', reader.text('replace')),
    ...defined('with', reader.text('with')),
    ...defined('remove', reader.flag('remove')),
  };
}

type ConditionInit = MessageInitShape<typeof ConditionSchema>;

function readCondition(reader: MemberReader): ConditionInit {
  const list = (name: string) => {
    const conditions = reader.objects(name, readCondition);
    return conditions && { conditions };
  };
  return {
    ...defined(
      'selector',
      reader.object('selector', (selector) => ({
        ...defined('path', selector.text('path')),
        ...defined('required', selector.flag('required')),
      })),
    ),
    ...defined(
      'evaluator',
      reader.object('evaluator', (evaluator) => ({
        ...defined('name', evaluator.text('name')),
        ...defined('config', evaluator.free('config')),
        ...defined('metadata', evaluator.free('metadata')),
      })),
    ),
    ...defined('and', list('and')),
    ...defined('or', list('or')),
    ...defined('not', reader.object('not', readCondition)),
  };
}

/** An object with a member, or without it if there is no value. */
function defined<K extends string, V>(name: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [key in K]?: V });
}
