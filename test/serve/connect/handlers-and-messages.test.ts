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
import { evaluation, list_wrapper, variant } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { SampleService } from '../../../gen/proto/enforcement/v1/sample_service_pb.js';
import { FieldBehavior, field_behavior } from '../../../gen/proto/google/api/field_behavior_pb.js';
import { createAuthzen } from '../../../packages/adapters/src/authzen/authzen.js';
import { createCopilotStudio } from '../../../packages/adapters/src/copilot-studio/copilot-studio.js';
import type { AdapterEvaluations } from '../../../packages/adapters/src/steps/adapter-evaluations.js';
import { findSensitive } from '../../../packages/detectors/src/index.js';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import { createEventStore } from '../../../src/app/wiring/event-store.js';
import type { AnyHandler, Handler, HandlerCall } from '../../../src/contract/call/handler.js';
import { ANONYMOUS } from '../../../src/contract/call/handler.js';
import { roleTable } from '../../../src/contract/call/scopes.js';
import { readConfig } from '../../../src/contract/config/config.js';
import { inputItems, parseInput } from '../../../src/contract/input/parse-input.js';
import { inPackage } from '../../../src/contract/runtime/package-root.js';
import { createSealing } from '../../../src/contract/secrets/sealing.js';
import { type Approvals, createApprovals } from '../../../src/decide/approvals/approvals.js';
import { createControlLibrary } from '../../../src/decide/decisions/control-library.js';
import { createStepSchemaLibrary } from '../../../src/decide/decisions/step-schema-library.js';
import { createHalts } from '../../../src/decide/halts/halts.js';
import type { EvaluatorRegistry } from '../../../src/kernel/core/evaluator.js';
import type { Step } from '../../../src/kernel/core/types.js';
import { evaluatorHandlers } from '../../../src/kernel/evaluators/evaluator-handlers.js';
import { evaluatorReferenceProblems } from '../../../src/manage/agents/agent-evaluator-references.js';
import { createAgentEvaluators } from '../../../src/manage/agents/agent-evaluators.js';
import { agentHandlers } from '../../../src/manage/agents/agent-handlers.js';
import { createAgentService } from '../../../src/manage/agents/agent-service.js';
import { ControlFeed } from '../../../src/manage/agents/control-feed.js';
import {
  createRegisteredTypes,
  createRegistrationNotes,
} from '../../../src/manage/agents/registration-notes.js';
import { createWatchControls } from '../../../src/manage/agents/watch-controls.js';
import { createBindings } from '../../../src/manage/bindings/bindings.js';
import { createConfiguration } from '../../../src/manage/configuration/configuration.js';
import { createControlClone } from '../../../src/manage/controls/control-clone.js';
import { controlHandlers } from '../../../src/manage/controls/control-handlers.js';
import { createReviewer } from '../../../src/manage/controls/control-review.js';
import { createControlService } from '../../../src/manage/controls/control-service.js';
import { createControlUsers } from '../../../src/manage/controls/control-users.js';
import { createControlVersions } from '../../../src/manage/controls/control-versions.js';
import { createExpressionInspector } from '../../../src/manage/controls/expression-handler.js';
import { templateHandlers } from '../../../src/manage/controls/template-handlers.js';
import { createKeys } from '../../../src/manage/keys/keys.js';
import { createLimits } from '../../../src/manage/limits/limits.js';
import { createLint } from '../../../src/manage/lint/lint.js';
import { NamespaceRegistry } from '../../../src/manage/namespaces/namespace-registry.js';
import { createNamespaceStore } from '../../../src/manage/namespaces/namespace-store.js';
import { createNamespaces } from '../../../src/manage/namespaces/namespaces.js';
import { createPacks } from '../../../src/manage/pack-installations/packs.js';
import { openPackCatalogue } from '../../../src/manage/packs/catalogue.js';
import { createPolicies } from '../../../src/manage/policies/policies.js';
import { createAudit } from '../../../src/observe/audit/audit.js';
import { type Coverage, createCoverage } from '../../../src/observe/coverage/coverage.js';
import { createCountMeter } from '../../../src/observe/events/counts/count-meter.js';
import { createMarks } from '../../../src/observe/events/marks/marks.js';
import { createObservability } from '../../../src/observe/events/observability.js';
import { createObservabilityMeter } from '../../../src/observe/events/observability-meter.js';
import { explainHandler } from '../../../src/observe/explain/explain-handler.js';
import { createExplainService } from '../../../src/observe/explain/explain-service.js';
import { createWaitingStepTrials } from '../../../src/observe/explain/waiting-steps.js';
import { createNotifications } from '../../../src/observe/notifications/notifications.js';
import { UNSEALED } from '../../../src/observe/notifications/sealer.js';
import { createProblems } from '../../../src/observe/problems/problems.js';
import { createPackPreview } from '../../../src/observe/replay/pack-preview.js';
import { createReplay } from '../../../src/observe/replay/replay.js';
import { readSamplingRules } from '../../../src/observe/samples/sample-store.js';
import { createSamples } from '../../../src/observe/samples/samples.js';
import { SamplingRegistry } from '../../../src/observe/samples/sampling-registry.js';
import { createServerInfo, type ServerState } from '../../../src/observe/server-info/server-info.js';
import { shadowHandlers } from '../../../src/observe/shadows/shadows.js';
import { isFreeForm, isTextType } from '../../../src/serve/descriptors/reply-shape.js';
import { rpcMethods } from '../../../src/serve/descriptors/rpc-methods.js';
import { createRuntimeTokens } from '../../../src/serve/runtime-tokens/runtime-tokens.js';
import { createTokenCodec } from '../../../src/serve/runtime-tokens/token-codec.js';
import { createChangeNotifier } from '../../../src/storage/database/change-notifications.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { createMutator } from '../../../src/storage/database/mutator.js';
import { STEPS } from '../../e2e/every-rpc.steps.js';
import { LATEST_SAMPLE } from '../../e2e/every-rpc.support.js';
import { serviceRegistry } from '../../support/evaluators.js';
import { NO_FAILURES } from '../../support/failures.js';
import { methodNamed, SERVICES } from '../../support/protocol-clients.js';
import { compileProto } from '../../support/scratch-api.js';

/** All adapters are on. Their RPCs that evaluate are not looked at here. */
const ADAPTERS: AdapterEvaluations = {
  demand: () => {},
  refused: () => {},
  submit: () => Promise.reject(new Error('nothing is evaluated here')),
};

const directory = mkdtempSync(path.join(tmpdir(), 'handlers-'));
let database: Database;
let registry: FileRegistry;
let handlers: Record<string, AnyHandler>;
let approvals: Approvals;
let coverage: Coverage;
beforeAll(async () => {
  registry = await compileProto();
  database = await openDatabase({
    url: `file:${path.join(directory, 'service.db')}`,
    onAudit: createChangeNotifier({ maxWaiting: 10, publicUrl: null }),
  });
  const evaluators = serviceRegistry;
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
  const store = await createEventStore({ config: observability, database, now: options.now });
  const catalogue = await openPackCatalogue({
    builtIn: inPackage('packs'),
    folders: [inPackage('test/fixtures/packs')],
    registry: evaluators,
  });
  const state = (): ServerState => ({
    cannotEvaluateBecause: 'no reason',
    stalenessSeconds: 0.5,
    controlsFrom: 'last_known_good',
    databaseUp: true,
    storage: { state: 'READONLY', problem: 'read-only' },
    events: { enabled: true, recorded: 'all', waiting: 1, lost: 2 },
  });
  const namespaces = new NamespaceRegistry({
    read: createNamespaceStore(database.client).all,
    onFailure: (error) => NO_FAILURES.failed('namespaces', 'the namespaces cannot be read', error),
    now: options.now,
  });
  const trial = {
    registry: evaluators,
    library: createControlLibrary({ registry: evaluators, keepEvaluators: 10 }),
    stepSchemas: options.stepSchemas,
    newExecutionId: () => 'execution',
    now: options.now,
    clock: options.now,
  };
  approvals = createApprovals({
    database,
    config: readConfig({}).approvals,
    trials: createWaitingStepTrials(database.client, trial),
    meter: { asked: () => {}, ended: () => {}, used: () => {}, counted: () => {} },
    failures: { ...NO_FAILURES, told: () => {} },
    now: () => Date.now(),
  });
  coverage = createCoverage({
    ...options,
    retentionDays: 0,
    outbox: { maxWaiting: 100, publicUrl: null },
    failures: NO_FAILURES,
    now: () => Date.now(),
    monotonic: () => performance.now(),
  });
  handlers = {
    ...approvals.handlers,
    ...approvals.accessRequests,
    ...createKeys({
      ...options,
      roles: roleTable('key'),
      namespaces,
      applied: async () => {},
    }),
    ...createNamespaces({
      ...options,
      known: namespaces,
      failures: NO_FAILURES,
      forgetMemory: async () => {},
    }).handlers,
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
      createControlClone(options),
      createExpressionInspector(database.client, createRegisteredTypes()),
      evaluators,
    ),
    ...createBindings(options),
    ...evaluatorHandlers(evaluators),
    ...templateHandlers(evaluators, reviewer, database.client),
    ...createPacks({ ...options, catalogue }),
    ...createPackPreview({
      client: database.client,
      catalogue,
      search: store.search,
      trial,
      now: () => 0,
    }),
    ...createConfiguration({
      ...options,
      newReviewer: () => reviewer,
      catalogue,
      catchUpLabels: async () => {},
    }),
    ...createLint({ ...options, maxWindowMs: 86_400_000 }),
    ...createSamples({
      ...options,
      rules: new SamplingRegistry({
        read: () => readSamplingRules(database),
        onFailure: (error) => NO_FAILURES.failed('samples', 'the rules cannot be read', error),
        now: () => Date.now(),
      }),
      sealing: createSealing(null),
      findSensitive,
      now: () => Date.now(),
      meter: { stored: () => {}, lost: () => {}, counted: () => {} },
      failures: { ...NO_FAILURES, told: () => {} },
    }).handlers,
    ...createReplay({
      ...options,
      client: database.client,
      catalogue,
      library: createControlLibrary({ registry: evaluators, keepEvaluators: 10 }),
      sealing: createSealing(null),
      newExecutionId: () => 'execution',
      emptyDenies: false,
    }),
    ...shadowHandlers({ ...options, evaluators, registry: { refreshed: async () => {} } }),
    ...createHalts({ ...options, now: () => Date.now(), registry: { apply: async () => {} } }),
    ...createNotifications({
      ...options,
      config: readConfig({}).notifications,
      sealer: UNSEALED,
      publicUrl: null,
      failures: { ...NO_FAILURES, told: () => {} },
      now: () => Date.now(),
      monotonic: () => performance.now(),
    }).handlers,
    ...coverage.handlers,
    ...createAuthzen({ evaluations: ADAPTERS, publicUrl: 'https://decisions.example.com' }),
    ...createCopilotStudio(ADAPTERS),
    ...createLimits({
      ...options,
      memory: {
        ready: () => (text) => text,
        // Evaluations have no handler, so that no step is counted: what cannot be read is shown as well.
        readKey: async () => ({ id: 'key', label: 'all', usedAtUs: 1, nowUs: 2, isDamaged: true, rules: [] }),
        resetKey: async () => false,
        mostUsed: async () => [],
        status: () => ({
          ...{ store: null, isUsed: false, isAvailable: true, problem: null },
          ...{ cells: 0, bytes: 0, evicted: 0 },
        }),
      },
      storeKind: 'sqlite',
      maxKeys: 1,
      maxBytes: 1,
    }),
    ...createPolicies({ ...options, catchUpLabels: async () => {} }),
    ...createServerInfo({
      version: '1.2.3',
      maxMessageBytes: 4_096,
      maxBatch: 10,
      streamWindow: 5,
      revision: () => 7,
      state,
      namespaces,
    }),
    ...createProblems({
      ...options,
      state,
      emptyDenies: false,
      halts: { active: () => [] },
      memory: () => ({
        problem: 'it is away',
        volatility: 'Redis keeps nothing on disk',
        damagedKeys: 1,
        isFull: true,
      }),
      sinks: { meter: new Map(), tail: store.tail },
      log: { debug: () => {} },
      monotonic: options.now,
    }).handlers,
    ...(
      await createObservability({
        config: observability,
        store,
        database,
        meter: createObservabilityMeter(),
        countMeter: createCountMeter(),
        log: { info: () => {}, warn: () => {}, error: () => {} },
        failures: NO_FAILURES,
        now: options.now,
        monotonic: options.now,
      })
    ).handlers,
    ...createMarks({ ...options, ...observability, search: store.search }),
    ...createRuntimeTokens({
      codec: createTokenCodec(['a-secret-of-tokens-with-32-bytes']),
      ttlSeconds: 300,
      granted: () => ({ ...ANONYMOUS, keyFingerprint: '0123456789ab' }),
      rightsOf: () => ({ origin: 'key', endMs: Number.POSITIVE_INFINITY }),
      now: options.now,
    }),
    ...createAudit({
      config: { retentionDays: 0 },
      database,
      log: { info: () => {} },
      failures: NO_FAILURES,
      now: options.now,
    }).handlers,
    explain: explainHandler(
      createExplainService({
        halts: { isEmpty: true, reading: null, of: () => null },
        client: database.client,
        registry: evaluators,
        library: createControlLibrary({ registry: evaluators, keepEvaluators: 10 }),
        referenceProblems: evaluatorReferenceProblems,
        stepSchemas: options.stepSchemas,
        newExecutionId: () => 'execution',
        now: options.now,
        clock: options.now,
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
const isEvaluation = (method: DescMethod) => getOption(method, evaluation);
const METHODS = SERVICES.flatMap(rpcMethods)
  .filter(({ desc }) => !isEvaluation(desc))
  .map((method): [string, typeof method] => [method.desc.name, method]);

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

/** Messages with their own fields; free-form ones, those that are texts in JSON, and lists that stand for themselves have none. */
function isPlainMessage(message: DescMessage | undefined): message is DescMessage {
  return (
    message !== undefined && !isFreeForm(message) && !isTextType(message) && !getOption(message, list_wrapper)
  );
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
      // Which members a variant has depends on one of them: `test/manage/configuration/documents.test.ts` looks at each.
      if (!isPlainMessage(field.message) || getOption(field.message, variant)) continue;
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

/** The calls of the script that every protocol plays, but for those about a sample: evaluations, which make it, have no handler. */
const PLAYED = STEPS.filter(
  ({ expected, input }) => 'reply' in expected && input.decision_id !== LATEST_SAMPLE,
).map(({ rpc, what, input }) => ({
  method: methodNamed(rpc),
  what,
  input,
}));
const CALLS = PLAYED.filter(({ method }) => !isEvaluation(method));

/** Asks for an approval of a step as an evaluation does, and uses it once it is approved. */
async function askAbout(input: JsonObject, context: HandlerCall): Promise<void> {
  const row = await database.client.control.findFirstOrThrow({ where: { liveName: 'payments' } });
  const registered = serviceRegistry;
  const { lift } = createControlLibrary({ registry: registered, keepEvaluators: 1 }).prepare(row.data);
  if (lift === null) throw new Error('the control does not ask');
  const answer = await approvals.gate.ask({
    agentName: String(input.agent_name),
    sessionId: null,
    stepId: null,
    target: null,
    step: {
      output: null,
      context: null,
      ...(input.step as unknown as Pick<Step, 'type' | 'name' | 'input'>),
    },
    controls: [{ id: row.id, name: row.name, definitionHash: lift.definitionHash, approval: lift.approval }],
    caller: { ...context, protocol: 'rest', namespace: context.principal.namespace, spend: () => {} },
  });
  if (answer.kind === 'approved') await answer.use();
}

describe('the replies of the handlers', () => {
  it('hold nothing that their messages lack, and each member of the messages occurs', async () => {
    const context: HandlerCall = {
      principal: { ...ANONYMOUS, level: 'admin', keyFingerprint: '69a5265506c9', role: 'admin' },
      requestId: 'test',
      address: '192.0.2.7',
      signal: new AbortController().signal,
      isLenient: false,
      protocol: 'rest',
      spend() {},
      header: () => undefined,
      reportRevision: () => {},
      reportStaleness: () => {},
      warn: () => {},
      ignoredParts: () => [],
    };
    const unknown: string[] = [];
    const seen = new Set<string>();
    const wanted = new Set<string>();
    for (const { method, what, input } of PLAYED) {
      if (isEvaluation(method)) {
        if (JSON.stringify(input).includes('"ask"')) await askAbout(input as unknown as JsonObject, context);
        continue;
      }
      const { input: schema, handle } = handlerOf(method);
      const reply = await handle(parseInput(schema, input), context);
      compare(method.output, reply, `${method.name} ${what}`, unknown, seen);
      for (const field of method.output.fields) wanted.add(`${method.output.typeName}.${field.name}`);
    }
    expect(unknown).toEqual([]);
    expect([...wanted].filter((member) => !seen.has(member))).toEqual([]);
    // What a stream tells is for its own tests, and so is a sample: the id of its decision is random.
    const unary = METHODS.filter(
      ([, one]) => one.desc.methodKind === 'unary' && one.desc !== SampleService.method.getSample,
    );
    expect(unary.filter(([, one]) => !CALLS.some(({ method }) => method === one.desc))).toEqual([]);
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
