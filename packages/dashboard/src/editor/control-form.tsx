import type { Dispatch } from 'react';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import type { EditorAction, EditorState } from './editor-state.js';
import { CheckField, LinesInput, OneOfField, ProblemTexts, TextInput } from './form-fields.js';
import { givenMember, type JsonValue, textOf, textsOf } from './json.js';
import { type PlacedProblem, problemsOf } from './problem-place.js';
import { type ScopeSuggestions, useScopeSuggestions } from './use-scope-suggestions.js';

interface ControlFormProps {
  readonly state: EditorState;
  readonly dispatch: Dispatch<EditorAction>;
  readonly problems: readonly PlacedProblem[];
  /** The agent that the control is tried with. Blank: none. */
  readonly agentName: string;
}

const EXECUTIONS = [
  ['server', 'Service', 'evaluates it for every step'],
  ['sdk', 'Client', 'evaluates it; the service only stores it'],
] as const;

/** Members that have a field, whose problems are shown there. */
const FIELDS = ['name', 'description', 'enabled', 'execution', 'tags', 'scope', 'action'];

/** The control itself: everything besides its condition. */
export function ControlForm({ state, dispatch, problems, agentName }: ControlFormProps) {
  const known = useScopeSuggestions(agentName);
  const { name, draft } = state;
  const set = (members: readonly string[], value: JsonValue | undefined) =>
    dispatch({ type: 'set', members, value });
  const enabled = givenMember(draft, 'enabled');
  const elsewhere = problems.filter((problem) => problemsOf([problem], ...FIELDS).length === 0);
  return (
    <div className="editor-form">
      <ProblemTexts problems={elsewhere} />
      <TextInput
        label="Name"
        hint="Letters, digits, _ and -. Unique."
        isCode
        value={name}
        problems={problemsOf(problems, 'name')}
        onChange={(value) => dispatch({ type: 'rename', name: value })}
      />
      <TextInput
        label="Description"
        rows={2}
        value={textOf(givenMember(draft, 'description'))}
        problems={problemsOf(problems, 'description')}
        onChange={(value) => set(['description'], value === '' ? undefined : value)}
      />
      <CheckField
        label="On: it takes part in evaluations"
        checked={enabled !== false}
        onChange={(value) => set(['enabled'], value)}
      />
      <ProblemTexts problems={problemsOf(problems, 'enabled')} />
      <OneOfField
        legend="Runs in"
        value={textOf(givenMember(draft, 'execution'))}
        choices={EXECUTIONS}
        problems={problemsOf(problems, 'execution')}
        onChange={(value) => set(['execution'], value)}
      />
      <ActionFields state={state} set={set} problems={problems} />
      <ScopeFields state={state} set={set} problems={problems} known={known} />
      <LinesInput
        label="Tags"
        values={textsOf(givenMember(draft, 'tags'))}
        suggestions={known.tags}
        problems={problemsOf(problems, 'tags')}
        onChange={(values) => set(['tags'], listOrNone(values))}
      />
    </div>
  );
}

interface PartProps {
  readonly state: EditorState;
  readonly set: (members: readonly string[], value: JsonValue | undefined) => void;
  readonly problems: readonly PlacedProblem[];
}

const DECISIONS = [
  ['deny', <DecisionBadge key="deny" sign="deny" />, 'the step must not proceed'],
  ['steer', <DecisionBadge key="steer" sign="steer" />, 'the agent is told how to correct the step'],
  ['observe', <DecisionBadge key="observe" sign="observe" />, 'the match is only recorded'],
] as const;

/** What has no field of its own is shown at the decision. */
function isOfAction(member: string): boolean {
  return member === 'action' || /^action\.(approval|modify)\b/.test(member);
}

function ActionFields({ state: { draft }, set, problems }: PartProps) {
  const action = givenMember(draft, 'action');
  const decision = textOf(givenMember(action, 'decision'));
  const steering = givenMember(action, 'steering_context');
  return (
    <>
      <OneOfField
        legend="On a match"
        value={decision}
        choices={DECISIONS}
        problems={[
          ...problemsOf(problems, 'action.decision', 'action.metadata'),
          ...problems.filter(({ place }) => isOfAction(place.member)),
        ]}
        onChange={(value) => set(['action', 'decision'], value)}
      />
      {(decision === 'steer' || steering !== undefined) && (
        <div className="editor-group">
          <TextInput
            label="What the agent should do differently"
            rows={2}
            value={textOf(givenMember(steering, 'message'))}
            problems={[
              ...problemsOf(problems, 'action.steering_context.message'),
              ...problems.filter(({ place }) => place.member === 'action.steering_context'),
            ]}
            onChange={(value) =>
              set(['action', 'steering_context', 'message'], value === '' ? undefined : value)
            }
          />
          <LinesInput
            label="Actions required before it tries again"
            values={textsOf(givenMember(steering, 'required_actions'))}
            problems={problemsOf(problems, 'action.steering_context.required_actions')}
            onChange={(values) => set(['action', 'steering_context', 'required_actions'], listOrNone(values))}
          />
        </div>
      )}
    </>
  );
}

const STAGES = [
  ['pre', 'pre: before the step runs'],
  ['post', 'post: after the step has run'],
] as const;

function ScopeFields({
  state: { draft },
  set,
  problems,
  known,
}: PartProps & { readonly known: ScopeSuggestions }) {
  const scope = givenMember(draft, 'scope');
  const stages = textsOf(givenMember(scope, 'stages'));
  const setStage = (stage: string, isSet: boolean): void => {
    const others = stages.filter((other) => other !== stage);
    set(['scope', 'stages'], listOrNone(isSet ? [...others, stage] : others));
  };
  const setList = (member: string) => (values: readonly string[]) =>
    set(['scope', member], listOrNone(values));
  const problemsIn = (member: string) => problemsOf(problems, `scope.${member}`);
  return (
    <fieldset className="editor-group">
      <legend>Scope: which steps it checks</legend>
      <p className="muted field-hint">Empty fields restrict nothing.</p>
      <fieldset className="choice-field">
        <legend>Stages</legend>
        {STAGES.map(([stage, text]) => (
          <CheckField
            key={stage}
            label={text}
            checked={stages.includes(stage)}
            onChange={(checked) => setStage(stage, checked)}
          />
        ))}
        <ProblemTexts problems={problemsIn('stages')} />
      </fieldset>
      <LinesInput
        label="Step types"
        hint="For example tool or llm."
        values={textsOf(givenMember(scope, 'step_types'))}
        suggestions={known.stepTypes}
        problems={problemsIn('step_types')}
        onChange={setList('step_types')}
      />
      <LinesInput
        label="Step names"
        values={textsOf(givenMember(scope, 'step_names'))}
        suggestions={known.stepNames}
        problems={problemsIn('step_names')}
        onChange={setList('step_names')}
      />
      <TextInput
        label="Or a pattern found in the step name (RE2)"
        isCode
        value={textOf(givenMember(scope, 'step_name_regex'))}
        problems={problemsIn('step_name_regex')}
        onChange={(value) => set(['scope', 'step_name_regex'], value === '' ? undefined : value)}
      />
      <ProblemTexts problems={problems.filter(({ place }) => place.member === 'scope')} />
    </fieldset>
  );
}

function listOrNone(values: readonly string[]): string[] | undefined {
  return values.length === 0 ? undefined : [...values];
}
