import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { Decision, Execution, Stage } from '@gen/enforcement/v1/control_pb.js';
import {
  ControlService,
  type ControlSummary,
  type ListControlsRequestSchema,
} from '@gen/enforcement/v1/control_service_pb.js';
import { transport } from '../data/transport.js';
import { AGENT_MEMBER } from '../references/query-members.js';
import { onlyValueOf, type QueryMember, type QueryTerm, valuesOf } from '../ui/query-bar/query-member.js';

const controls = createClient(ControlService, transport);
/** Newest controls whose tags, steps and types are suggested. */
const SUGGESTED_OF = 100;

const DECISIONS: Readonly<Record<string, Decision>> = {
  deny: Decision.DENY,
  steer: Decision.STEER,
  observe: Decision.OBSERVE,
};
const STAGES: Readonly<Record<string, Stage>> = { pre: Stage.PRE, post: Stage.POST };
const EXECUTIONS: Readonly<Record<string, Execution>> = { server: Execution.SERVER, sdk: Execution.SDK };

/** Everything that controls can be filtered by, the most usual first. */
export const CONTROL_MEMBERS: readonly QueryMember[] = [
  { name: 'name', hint: 'a part of the name' },
  {
    name: 'decision',
    hint: 'what a match does',
    isMultiple: true,
    values: Object.keys(DECISIONS).map((value) => ({ value })),
  },
  {
    name: 'enabled',
    hint: 'whether it is on',
    values: [
      { value: 'true', text: 'on' },
      { value: 'false', text: 'off' },
    ],
  },
  { ...AGENT_MEMBER, hint: 'an agent that has the control' },
  { name: 'step', hint: 'name of a step that it checks', suggest: suggest(({ stepNames }) => stepNames) },
  { name: 'tag', hint: 'a tag', suggest: suggest(({ tags }) => tags) },
  {
    name: 'used',
    hint: 'whether any agent has it',
    values: [
      { value: 'true', text: 'by agents' },
      { value: 'false', text: 'by no agent' },
    ],
  },
  {
    name: 'type',
    aliases: ['step_type'],
    hint: 'type of the steps',
    suggest: suggest(({ stepTypes }) => stepTypes),
  },
  {
    name: 'stage',
    hint: 'before or after the step',
    values: [
      { value: 'pre', hint: 'before the step' },
      { value: 'post', hint: 'after the step' },
    ],
  },
  {
    name: 'execution',
    hint: 'where it runs',
    values: [
      { value: 'server', hint: 'in this service' },
      { value: 'sdk', text: 'client', hint: 'in the client of the agent' },
    ],
  },
  {
    name: 'template',
    hint: 'whether it is made from a template',
    values: [
      { value: 'true', text: 'yes' },
      { value: 'false', text: 'no' },
    ],
  },
];

/** The request for the terms of a query. */
export function controlFilter(
  terms: readonly QueryTerm[],
): MessageInitShape<typeof ListControlsRequestSchema> {
  const value = (name: string) => onlyValueOf(terms, name);
  const flag = (name: string) => value(name) === 'true';
  const decisions = valuesOf(terms, 'decision').map(
    (decision) => DECISIONS[decision] ?? Decision.UNSPECIFIED,
  );
  return {
    ...(value('name') === undefined ? {} : { name: value('name') ?? '' }),
    ...(value('tag') === undefined ? {} : { tag: value('tag') ?? '' }),
    ...(value('type') === undefined ? {} : { stepType: value('type') ?? '' }),
    ...(value('step') === undefined ? {} : { stepName: value('step') ?? '' }),
    ...(value('agent') === undefined ? {} : { agentName: value('agent') ?? '' }),
    ...(value('enabled') === undefined ? {} : { enabled: flag('enabled') }),
    ...(value('used') === undefined ? {} : { hasAgents: flag('used') }),
    ...(value('template') === undefined ? {} : { templateBacked: flag('template') }),
    ...(decisions.length === 0 ? {} : { decisions }),
    stageFilter: STAGES[value('stage') ?? ''] ?? Stage.UNSPECIFIED,
    executionFilter: EXECUTIONS[value('execution') ?? ''] ?? Execution.UNSPECIFIED,
  };
}

/** What the newest controls have, with a text in it. */
function suggest(of: (control: ControlSummary) => readonly string[]): NonNullable<QueryMember['suggest']> {
  return async (part, _terms, signal) => {
    const reply = await controls.listControls({ limit: SUGGESTED_OF }, { signal });
    const typed = part.toLowerCase();
    const values = new Set(reply.controls.flatMap(of));
    return [...values]
      .filter((value) => value.toLowerCase().includes(typed))
      .sort()
      .map((value) => ({ value }));
  };
}
