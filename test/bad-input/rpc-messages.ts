import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { AgentSchema, InitAgentRequestSchema } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import {
  type Condition,
  ConditionSchema,
  ControlDefinitionSchema,
  Decision,
  Execution,
  Stage,
} from '../../gen/proto/enforcement/v1/control_pb.js';
import { CreateControlRequestSchema } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluateRequestSchema } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { wire } from '../support/bad-input-rpc.js';
import { AGENT } from './rest-cases.js';

/** A message as bytes. */
export function message<Desc extends DescMessage>(desc: Desc, init: MessageInitShape<Desc>): Buffer {
  return Buffer.from(toBinary(desc, create(desc, init)));
}

/** A check that is valid and matches nothing in these tests. */
export const LEAF = {
  selector: { path: 'input' },
  evaluator: { name: 'regex', config: { pattern: 'never-there' } },
};

/** A valid definition. */
export const DEFINITION = {
  condition: LEAF,
  execution: Execution.SERVER,
  action: { decision: Decision.DENY },
};

/** A request to create a control with a definition that is valid but for these members. */
export function createControl(members: MessageInitShape<typeof ControlDefinitionSchema>): Buffer {
  const data = create(ControlDefinitionSchema, {
    ...DEFINITION,
    ...members,
  } as MessageInitShape<typeof ControlDefinitionSchema>);
  return message(CreateControlRequestSchema, { name: 'refused-control', data });
}

/** A request to create a control that checks the input with an evaluator. */
export function checking(name: string, config: object): Buffer {
  const evaluator = { name, config } as NonNullable<Condition['evaluator']>;
  return createControl({ condition: { selector: { path: 'input' }, evaluator } });
}

/** A request to create a control whose condition is `levels` deep, written from the inside out. */
export function deepCondition(levels: number): Buffer {
  const head = message(CreateControlRequestSchema, { name: 'refused-control' });
  const members = message(ControlDefinitionSchema, { ...DEFINITION, condition: undefined } as never);
  const condition = nested(levels - 1, message(ConditionSchema, LEAF), () => 5);
  return Buffer.concat([head, wire.bytes(2, wire.bytes(1, condition), members)]);
}

/** A registration of an agent that is valid but for these members. */
export function registration(members: MessageInitShape<typeof InitAgentRequestSchema>): Buffer {
  return message(InitAgentRequestSchema, {
    agent: { agentName: 'refused-agent-1' },
    ...members,
  } as MessageInitShape<typeof InitAgentRequestSchema>);
}

/** A registration of an agent whose metadata are these bytes of a Struct. */
export function agentWithMetadata(agentName: string, struct: Buffer): Buffer {
  return wire.bytes(1, message(AgentSchema, { agentName }), wire.bytes(6, struct));
}

/** An evaluation by JSON text. */
export function stepJson(json: string | Uint8Array): Buffer {
  return message(EvaluateRequestSchema, {
    agentName: AGENT,
    stage: Stage.PRE,
    stepForm: { case: 'stepJson', value: Buffer.from(json as Uint8Array) },
  });
}

/** An evaluation whose step is these bytes of a Step, below a type and a name. */
export function stepWith(...members: Buffer[]): Buffer {
  const head = message(EvaluateRequestSchema, { agentName: AGENT, stage: Stage.PRE });
  return Buffer.concat([head, wire.bytes(3, wire.bytes(1, 'llm'), wire.bytes(2, 'answer'), ...members)]);
}

/** Bytes of google.protobuf.Value. */
export const value = {
  number: (number: number): Buffer => wire.double(2, number),
  text: (text: string | Uint8Array): Buffer => wire.bytes(3, text),
  struct: (...fields: Buffer[]): Buffer => wire.bytes(5, ...fields),
  list: (...items: Buffer[]): Buffer => wire.bytes(6, ...items.map((item) => wire.bytes(1, item))),
};

/** A member of google.protobuf.Struct. */
export function member(key: string | Uint8Array, bytes: Buffer): Buffer {
  return wire.bytes(1, wire.bytes(1, key), wire.bytes(2, bytes));
}

/** A Value inside `levels` lists. */
export function listsDeep(levels: number): Buffer {
  // Value.list_value is field 6, ListValue.values field 1.
  return nested(2 * levels - 1, Buffer.alloc(0), (level) => (level % 2 === 0 ? 6 : 1));
}

/** A Value inside `levels` structs, each a member `key`. */
export function structsDeep(levels: number, key: string): Buffer {
  let bytes = value.number(1);
  for (let level = 0; level < levels; level += 1) bytes = value.struct(member(key, bytes));
  return bytes;
}

/** Wraps bytes into fields with a length, the innermost first, in time linear in the number of levels. */
function nested(levels: number, innermost: Buffer, field: (level: number) => number): Buffer {
  const heads: Buffer[] = [];
  let length = innermost.length;
  for (let level = 0; level < levels; level += 1) {
    const head = Buffer.concat([wire.tag(field(level), 2), wire.varint(length)]);
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat([...heads.reverse(), innermost]);
}
