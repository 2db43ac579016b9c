import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  getOption,
} from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { AuditService } from '../../../gen/proto/enforcement/v1/audit_service_pb.js';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { EvaluatorService } from '../../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { list_wrapper } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { PolicyService } from '../../../gen/proto/enforcement/v1/policy_service_pb.js';
import { ServerService } from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import { TemplateService } from '../../../gen/proto/enforcement/v1/template_service_pb.js';
import { FieldBehavior, field_behavior } from '../../../gen/proto/google/api/field_behavior_pb.js';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { evaluatorReferenceProblems } from '../../../src/agents/agent-evaluator-references.js';
import { createAgentEvaluators } from '../../../src/agents/agent-evaluators.js';
import { agentHandlers } from '../../../src/agents/agent-handlers.js';
import { createAgentService } from '../../../src/agents/agent-service.js';
import { ControlFeed } from '../../../src/agents/control-feed.js';
import { createRegistrationNotes } from '../../../src/agents/registration-notes.js';
import { createWatchControls } from '../../../src/agents/watch-controls.js';
import { createAudit } from '../../../src/audit/audit.js';
import { readConfig } from '../../../src/config/config.js';
import type { AnyHandler, Handler, HandlerCall } from '../../../src/contract/call/handler.js';
import { inputItems, parseInput } from '../../../src/contract/input/parse-input.js';
import { controlHandlers } from '../../../src/controls/control-handlers.js';
import { createReviewer } from '../../../src/controls/control-review.js';
import { createControlService } from '../../../src/controls/control-service.js';
import { createControlUsers } from '../../../src/controls/control-users.js';
import { createControlVersions } from '../../../src/controls/control-versions.js';
import { templateHandlers } from '../../../src/controls/template-handlers.js';
import type { EvaluatorRegistry } from '../../../src/core/evaluator.js';
import { type Database, openDatabase } from '../../../src/database/database.js';
import { createMutator } from '../../../src/database/mutator.js';
import { createControlLibrary } from '../../../src/decisions/control-library.js';
import { createStepSchemaLibrary } from '../../../src/decisions/step-schema-library.js';
import { evaluatorHandlers } from '../../../src/evaluators/evaluator-handlers.js';
import { builtinEvaluators, createRegistry } from '../../../src/evaluators/load-evaluators.js';
import { createEventStore } from '../../../src/events/create-event-store.js';
import { createObservability } from '../../../src/events/observability.js';
import { createObservabilityMeter } from '../../../src/events/observability-meter.js';
import { explainHandler } from '../../../src/explain/explain-handler.js';
import { createExplainService } from '../../../src/explain/explain-service.js';
import { createPolicies } from '../../../src/policies/policies.js';
import { createServerInfo } from '../../../src/server-info/server-info.js';
import { isFreeForm } from '../../../src/transport/descriptors/reply-shape.js';
import { rpcMethods } from '../../../src/transport/descriptors/rpc-methods.js';
import { isTextType } from '../../../src/transport/descriptors/text-types.js';
import { NO_FAILURES } from '../../support/failures.js';
import { compileProto } from '../../support/scratch-api.js';

const directory = mkdtempSync(path.join(tmpdir(), 'handlers-'));
let database: Database;
let registry: FileRegistry;
let handlers: Record<string, AnyHandler>;
beforeAll(async () => {
  registry = await compileProto();
  database = await openDatabase({ url: `file:${path.join(directory, 'service.db')}` });
  const evaluators = createRegistry(builtinEvaluators);
  const reviewer = createReviewer({
    registry: evaluators,
    registrationNotes: createRegistrationNotes(),
    strict: false,
  });
  const options = {
    database,
    mutate: createMutator({ database, now: () => 1_000, onCommit: () => {} }),
    registry: evaluators,
    now: () => 1_000,
    referenceProblems: evaluatorReferenceProblems,
    reviewer,
    asked: { note: () => {}, forget: () => {} },
    strict: false,
    stepSchemas: { ...createStepSchemaLibrary('warn'), mismatchedSteps: () => [] },
  };
  const { observability } = readConfig({ SERVICE_OBSERVABILITY_RECORD: 'none' });
  handlers = {
    ...agentHandlers(
      createAgentService({ ...options, feed: controlFeed(database, evaluators) }),
      createAgentEvaluators(options),
      createWatchControls({
        ...options,
        feed: controlFeed(database, evaluators),
        maxMessageBytes: 1_000_000,
      }),
    ),
    ...controlHandlers(
      createControlService(options),
      createControlVersions(options),
      createControlUsers(options),
      evaluators,
    ),
    ...evaluatorHandlers(evaluators),
    ...templateHandlers(evaluators, reviewer, database.client),
    ...createPolicies(options),
    ...createServerInfo({
      version: '1.2.3',
      maxMessageBytes: 4_096,
      maxBatch: 10,
      streamWindow: 5,
      revision: () => 7,
      state: () => ({
        cannotEvaluateBecause: 'no reason',
        stalenessSeconds: 0.5,
        controlsFrom: 'last_known_good',
        databaseUp: true,
        storage: { state: 'READONLY', problem: 'read-only' },
        events: { enabled: true, waiting: 1, lost: 2 },
      }),
    }),
    ...createObservability({
      config: observability,
      store: await createEventStore({ config: observability, database, now: options.now }),
      database,
      meter: createObservabilityMeter(),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      failures: NO_FAILURES,
      now: options.now,
      monotonic: options.now,
    }).handlers,
    ...createAudit({
      config: { retentionDays: 0 },
      database,
      log: { info: () => {} },
      failures: NO_FAILURES,
      now: options.now,
    }).handlers,
    explain: explainHandler(
      createExplainService({
        client: database.client,
        registry: evaluators,
        library: createControlLibrary({ registry: evaluators, keepEvaluators: 10 }),
        referenceProblems: evaluatorReferenceProblems,
        stepSchemas: options.stepSchemas,
        newExecutionId: () => 'execution',
        now: options.now,
      }),
      evaluators,
    ),
  };
});

/** A feed that learns of no changes. */
function controlFeed({ client }: Database, evaluators: EvaluatorRegistry): ControlFeed {
  const followed = () => ({ revision: 0, currentAtMs: 0 });
  return new ControlFeed({ client, registry: evaluators, followed, now: () => 1_000 });
}

afterAll(async () => {
  await database.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Those are no handlers. */
const isEvaluation = ({ name }: DescMethod) => ['Evaluate', 'EvaluateBatch', 'EvaluateStream'].includes(name);
const METHODS = [
  AgentService,
  ControlService,
  EvaluatorService,
  PolicyService,
  ServerService,
  TemplateService,
  ObservabilityService,
  EvaluationService,
  AuditService,
].flatMap((service) =>
  rpcMethods(service)
    .filter(({ desc }) => !isEvaluation(desc))
    .map((method): [string, typeof method] => [method.desc.name, method]),
);

const handlerOf = (method: DescMethod): Handler => handlers[method.localName] as Handler;
const schemaOf = (method: DescMethod): z.ZodObject => {
  const found = handlers[method.localName] as AnyHandler;
  return ('item' in found ? found.item : found.input) as unknown as z.ZodObject;
};

/** A value that no member of this field can be. */
function wrongValue(field: DescField): JsonValue {
  return field.fieldKind === 'scalar' || field.fieldKind === 'enum' ? {} : 'wrong';
}

/** Numbers of `message_type` in a file and of `field` in a message, of which source locations are made. */
const MESSAGE = 4;
const FIELD = 2;

/** The comment above a field of a message that is in no other one. */
function commentOf(field: DescField): string {
  const { file } = field.parent;
  const path = [
    MESSAGE,
    file.messages.indexOf(field.parent),
    FIELD,
    field.parent.fields.indexOf(field),
  ].join();
  const location = file.proto.sourceCodeInfo?.location.find((one) => one.path.join() === path);
  return location?.leadingComments ?? '';
}

/** Whether a comment says that a field is required, whatever other fields hold. */
const REQUIRED_ALWAYS = /\bRequired\b(?!, unless| for )/;

function isAnnotatedRequired(field: DescField): boolean {
  return getOption(field, field_behavior).includes(FieldBehavior.REQUIRED);
}

/** Whether the reading of an input complains about what is at `member` or inside. */
function complaints(schema: z.ZodType, input: JsonObject): string[] {
  return inputItems(schema, input).items.map((item) => item.field ?? '');
}

/** Messages with their own fields; free-form ones and lists that stand for themselves have none. */
function isPlainMessage(message: DescMessage | undefined): message is DescMessage {
  return message !== undefined && !isFreeForm(message) && !getOption(message, list_wrapper);
}

describe('google.api.field_behavior', () => {
  it('is REQUIRED for the fields documented as required in every case and for the members of paths', () => {
    const ofPaths = new Set<string>();
    const annotated: string[] = [];
    const expected: string[] = [];
    for (const file of registry.files) {
      if (file.proto.package !== 'enforcement.v1') continue;
      for (const method of file.services.flatMap(rpcMethods)) {
        for (const member of method.bindings.flatMap((binding) => binding.pathMembers)) {
          ofPaths.add(`${method.desc.input.typeName}.${member}`);
        }
      }
    }
    for (const file of registry.files) {
      if (file.proto.package !== 'enforcement.v1') continue;
      for (const field of file.messages.flatMap(({ fields }) => fields)) {
        const name = `${field.parent.typeName}.${field.name}`;
        if (isAnnotatedRequired(field)) annotated.push(name);
        if (REQUIRED_ALWAYS.test(commentOf(field)) || ofPaths.has(name)) expected.push(name);
      }
    }
    expect(annotated).toEqual(expected);
    expect(annotated.length).toBeGreaterThan(80);
  });
});

describe.each(METHODS)('the input of %s', (_name, method) => {
  const desc = method.desc;

  it('has the members of the request message', () => {
    expect(Object.keys(schemaOf(desc).shape).sort()).toEqual(
      desc.input.fields.map((field) => field.name).sort(),
    );
  });
  it('requires what the message documents as required, and the members of the path', () => {
    const missing = complaints(schemaOf(desc), {}).sort();
    const inPath = method.bindings.flatMap((binding) => binding.pathMembers);
    const documented = (registry.getMessage(desc.input.typeName)?.fields ?? [])
      .filter((field) => /\bRequired\b/.test(commentOf(field)))
      .map((field) => field.name);
    expect(missing).toEqual([...new Set([...inPath, ...documented])].sort());
  });
  it('requires every field that the message annotates as required', () => {
    const missing = complaints(schemaOf(desc), {});
    const annotated = desc.input.fields.filter(isAnnotatedRequired).map((field) => field.name);
    expect(missing).toEqual(expect.arrayContaining(annotated));
  });
  it('distinguishes an absent member from a zero wherever it is optional', () => {
    const required = new Set(complaints(schemaOf(desc), {}));
    for (const field of desc.input.fields) {
      const canBeAbsent = field.fieldKind !== 'scalar' || field.presence === 1;
      if (!required.has(field.name))
        expect({ field: field.name, canBeAbsent }).toEqual({ field: field.name, canBeAbsent: true });
    }
  });
  it('looks at every member of the message and of the messages in it', () => {
    for (const field of desc.input.fields) {
      const found = complaints(schemaOf(desc), { [field.name]: wrongValue(field) });
      expect(found.some((at) => at === field.name || at.startsWith(`${field.name}.`))).toBe(true);
      if (!isPlainMessage(field.message)) continue;
      for (const inner of field.message.fields) {
        // No JSON is wrong there.
        if (inner.message?.typeName === 'google.protobuf.Value') continue;
        const value = { [inner.name]: wrongValue(inner) };
        const isList = field.fieldKind === 'list';
        const inside = `${field.name}${isList ? '[0]' : ''}.${inner.name}`;
        const complained = complaints(schemaOf(desc), { [field.name]: isList ? [value] : value });
        expect({ inside, seen: complained.some((at) => at.startsWith(inside)) }).toEqual({
          inside,
          seen: true,
        });
      }
    }
  });
});

/** A definition with every member that a definition can have. */
const DEFINITION: JsonObject = {
  description: 'everything',
  enabled: true,
  execution: 'server',
  scope: { step_types: ['tool'], step_names: ['refund'], step_name_regex: '^re', stages: ['pre', 'post'] },
  condition: {
    and: [
      {
        or: [
          {
            selector: { path: 'input' },
            evaluator: { name: 'regex', config: { pattern: 'x' }, metadata: { a: 1 } },
          },
        ],
      },
      { not: { selector: {}, evaluator: { name: 'list', config: { values: ['a'] } } } },
    ],
  },
  action: {
    decision: 'steer',
    steering_context: { message: 'ask first', required_actions: ['ask'] },
    metadata: { b: [null] },
  },
  tags: ['money'],
};

/** A template with every member that a template can have. */
const TEMPLATE: JsonObject = {
  template: {
    description: 'words that are denied',
    parameters: {
      words: {
        type: 'string_list',
        label: 'Words',
        description: 'one of them is enough',
        required: true,
        ui_hint: 'tags',
        default: ['a'],
        placeholder: ['b'],
      },
      decision: { type: 'enum', label: 'Decision', allowed_values: ['deny', 'observe'] },
    },
    definition_template: {
      execution: 'server',
      condition: { selector: {}, evaluator: { name: 'list', config: { values: { $param: 'words' } } } },
      action: { decision: { $param: 'decision' } },
    },
  },
  template_values: { decision: 'deny' },
};

const AGENT = { agent_name: 'handler-agent-1', agent_metadata: { team: 'x' }, agent_version: '1' };
const STEPS = [
  { type: 'tool', name: 'refund', description: 'd', input_schema: { type: 'object' }, metadata: { m: 1 } },
];

const EVENT: JsonObject = {
  trace_id: 't',
  span_id: 's',
  agent_name: AGENT.agent_name,
  control_id: 1,
  control_name: 'one',
  check_stage: 'pre',
  applies_to: 'llm_call',
  action: 'deny',
  matched: true,
  confidence: 1,
};

/** An order of calls in which each one has what it needs, with input that leads to every member of the reply. */
const CALLS: [string, JsonObject][] = [
  ['listEvaluators', {}],
  ['getServerInfo', {}],
  ['renderTemplate', TEMPLATE],
  [
    'initAgent',
    { agent: AGENT, steps: STEPS, evaluators: [{ name: 'own', config_schema: {}, description: 'e' }] },
  ],
  ['createControl', { name: 'one', data: DEFINITION }],
  [
    'createControl',
    {
      name: 'two',
      data: { ...DEFINITION, condition: { selector: {}, evaluator: { name: 'unknown', config: {} } } },
    },
  ],
  [
    'validateControl',
    { data: { ...DEFINITION, condition: { selector: {}, evaluator: { name: 'unknown', config: {} } } } },
  ],
  ['addAgentControl', { agent_name: AGENT.agent_name, control_id: 1 }],
  ['getAgent', { agent_name: AGENT.agent_name }],
  ['listAgents', { limit: 1 }],
  ['listAgentControls', { agent_name: AGENT.agent_name }],
  ['listControls', { limit: 1 }],
  ['getControl', { control_id: 1 }],
  ['getControlData', { control_id: 1 }],
  ['getControlSchema', {}],
  ['listAgentEvaluators', { agent_name: AGENT.agent_name }],
  ['getAgentEvaluator', { agent_name: AGENT.agent_name, evaluator_name: 'own' }],
  ['initAgent', { agent: { ...AGENT, agent_version: '2' }, conflict_mode: 'overwrite' }],
  ['initAgent', { agent: AGENT, steps: STEPS, evaluators: [{ name: 'own' }] }],
  [
    'updateAgent',
    {
      agent_name: AGENT.agent_name,
      remove_steps: [{ type: 'tool', name: 'refund' }],
      remove_evaluators: ['own'],
    },
  ],
  ['setControlData', { control_id: 2, data: DEFINITION }],
  ['updateControl', { control_id: 2, name: 'three', enabled: false }],
  ['listControlVersions', { control_id: 2, limit: 1 }],
  ['getControlVersion', { control_id: 2, version_num: 1 }],
  ['restoreControlVersion', { control_id: 2, version_num: 1 }],
  ['removeAgentControl', { agent_name: AGENT.agent_name, control_id: 1 }],
  ['addAgentControl', { agent_name: AGENT.agent_name, control_id: 1 }],
  ['createPolicy', { name: 'policy' }],
  ['addPolicyControl', { policy_id: 1, control_id: 1 }],
  ['listPolicyControls', { policy_id: 1 }],
  ['createPolicy', { name: 'other' }],
  ['listPolicies', { limit: 1 }],
  ['getPolicy', { policy_id: 1 }],
  ['updatePolicy', { policy_id: 1, name: 'renamed', if_version: 2 }],
  ['listControlPolicies', { control_id: 1, limit: 1 }],
  ['setAgentPolicy', { agent_name: AGENT.agent_name, policy_id: 1 }],
  ['listAgentPolicies', { agent_name: AGENT.agent_name }],
  ['getAgentPolicy', { agent_name: AGENT.agent_name }],
  ['deleteAgentPolicy', { agent_name: AGENT.agent_name }],
  [
    'explain',
    {
      agent_name: AGENT.agent_name,
      stage: 'pre',
      step: { type: 'llm', name: 'n', input: 'x', output: 'y', context: { a: 1 } },
      data: DEFINITION,
    },
  ],
  ['addAgentPolicy', { agent_name: AGENT.agent_name, policy_id: 1 }],
  ['removeAgentPolicy', { agent_name: AGENT.agent_name, policy_id: 1 }],
  ['removeAllAgentPolicies', { agent_name: AGENT.agent_name }],
  ['addPolicyAgents', { policy_id: 1, agent_names: [AGENT.agent_name] }],
  ['listPolicyAgents', { policy_id: 1, limit: 1 }],
  ['listControlAgents', { control_id: 1, limit: 1 }],
  ['listAgentControls', { agent_name: AGENT.agent_name, page_size: 1 }],
  ['removePolicyAgents', { policy_id: 1, agent_names: [AGENT.agent_name] }],
  ['removePolicyControl', { policy_id: 1, control_id: 1 }],
  ['deleteControl', { control_id: 1, force: true }],
  ['addPolicyAgents', { policy_id: 1, agent_names: [AGENT.agent_name] }],
  ['deletePolicy', { policy_id: 1, force: true }],
  ['createEvents', { events: [EVENT, { ...EVENT, error_message: 'broken', execution_duration_ms: 1 }] }],
  ['queryEvents', { agent_name: AGENT.agent_name, limit: 1 }],
  ['getStats', { agent_name: AGENT.agent_name, include_timeseries: true }],
  ['getControlStats', { control_id: 1, agent_name: AGENT.agent_name, include_timeseries: true }],
  ['getStatsOverview', { include_timeseries: true }],
  ['getObservabilityStatus', {}],
  ['flushEvents', {}],
  ['deleteAgent', { agent_name: AGENT.agent_name }],
  ['listAuditEntries', { limit: 1 }],
  ['verifyAudit', {}],
];

describe('the replies of the handlers', () => {
  it('hold nothing that their messages lack, and each member of the messages occurs', async () => {
    const context: HandlerCall = {
      principal: { level: 'admin', keyFingerprint: null, name: null, agents: null },
      requestId: 'test',
      address: '192.0.2.7',
      signal: new AbortController().signal,
      isLenient: false,
      header: () => undefined,
      reportRevision: () => {},
      reportStaleness: () => {},
      warn: () => {},
      ignoredParts: () => [],
    };
    const unknown: string[] = [];
    const seen = new Set<string>();
    const wanted = new Set<string>();
    for (const [name, input] of CALLS) {
      const method = METHODS.find(([, one]) => one.desc.localName === name)?.[1].desc as DescMethod;
      const { input: schema, handle } = handlerOf(method);
      const reply = await handle(parseInput(schema, input), context);
      compare(method.output, reply, name, unknown, seen);
      for (const field of method.output.fields) wanted.add(`${method.output.typeName}.${field.name}`);
    }
    expect(unknown).toEqual([]);
    expect([...wanted].filter((member) => !seen.has(member))).toEqual([]);
    const driven = new Set(CALLS.map(([name]) => name));
    // What a stream tells is for its own tests.
    const unary = METHODS.filter(([, one]) => one.desc.methodKind === 'unary');
    expect(unary.filter(([, one]) => !driven.has(one.desc.localName))).toEqual([]);
  });
});

/** Walks a reply along its descriptor. */
function compare(desc: DescMessage, value: unknown, at: string, unknown: string[], seen: Set<string>): void {
  for (const [name, member] of Object.entries(value as object)) {
    const field = desc.fields.find((one) => one.name === name);
    if (field === undefined) {
      unknown.push(`${at}.${name}`);
      continue;
    }
    seen.add(`${desc.typeName}.${name}`);
    if (member === null || member === undefined || field.message === undefined) continue;
    if (isFreeForm(field.message) || isTextType(field.message)) continue;
    const inner = getOption(field.message, list_wrapper) ? field.message.fields[0]?.message : field.message;
    if (inner === undefined) continue;
    const isMany = field.fieldKind === 'list' || field.fieldKind === 'map' || inner !== field.message;
    const values = isMany ? Object.values(member as object) : [member];
    for (const one of values) compare(inner, one, `${at}.${name}`, unknown, seen);
  }
}
