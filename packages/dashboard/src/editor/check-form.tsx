import type { Scope } from '@gen/enforcement/v1/control_pb.js';
import { useRef } from 'react';
import { ConfigForm } from '../expression/config-form.js';
import { SelectorField } from '../selector/selector-field.js';
import type { ConditionNode } from './condition-tree.js';
import { EvaluatorField } from './evaluator-field.js';
import { CheckField, ProblemTexts } from './form-fields.js';
import { givenMember, isJsonObject, type JsonObject, objectWith, textOf } from './json.js';
import { configProblems, type PlacedProblem, problemsOf } from './problem-place.js';
import type { KnownEvaluators } from './use-evaluators.js';

interface CheckFormProps {
  readonly node: ConditionNode;
  readonly problems: readonly PlacedProblem[];
  readonly known: KnownEvaluators;
  readonly agentName: string;
  /** The scope of the control, as far as it can be read. */
  readonly scope: Scope | undefined;
  /** `part` says what was edited. */
  readonly onChange: (node: JsonObject, part: string) => void;
}

/** A check: the part of the step, the evaluator and its configuration. */
export function CheckForm({ node, problems, known, agentName, scope, onChange }: CheckFormProps) {
  const evaluator = givenMember(node, 'evaluator');
  const name = textOf(givenMember(evaluator, 'name'));
  const config = givenMember(evaluator, 'config');
  // What was configured for another evaluator comes back when that is chosen again.
  const configs = useRef(new Map<string, JsonObject>());
  const schema = known.evaluators.find((one) => one.name === name)?.schema;
  const selectorProblems = problemsOf(problems, 'selector');
  const selector = givenMember(node, 'selector');
  const setSelector = (member: string, value: string | true | undefined): void =>
    onChange(objectWith(node, 'selector', objectWith(selector, member, value)), 'selector');
  const setEvaluator = (next: JsonObject, part: string): void =>
    onChange(objectWith(node, 'evaluator', next), part);
  const choose = (chosen: string): void => {
    if (isJsonObject(config)) configs.current.set(name, config);
    const kept = configs.current.get(chosen) ?? {};
    setEvaluator(objectWith(objectWith(evaluator, 'name', chosen), 'config', kept), 'evaluator');
  };
  return (
    <div className="editor-form">
      <ProblemTexts
        problems={problems.filter(({ place }) => place.member === '' || place.member === 'evaluator')}
      />
      <SelectorField
        label="Part of the step"
        value={textOf(givenMember(selector, 'path'))}
        agentName={agentName === '' ? undefined : agentName}
        problem={selectorProblems.find(({ severity }) => severity === 'error')?.message}
        onChange={(path) => setSelector('path', path === '' ? undefined : path)}
      />
      <CheckField
        label="Required: a step without this part fails the check"
        checked={givenMember(selector, 'required') === true}
        onChange={(checked) => setSelector('required', checked ? true : undefined)}
      />
      <ProblemTexts problems={selectorProblems.filter(({ severity }) => severity === 'warning')} />
      <EvaluatorField
        value={name}
        known={known}
        problems={problemsOf(problems, 'evaluator.name', 'evaluator.metadata')}
        onChange={choose}
      />
      <ProblemTexts problems={warningsOf(problems)} />
      {name !== '' && !known.isLoading && (
        <ConfigForm
          key={name}
          evaluator={name}
          place={{ scope, selectorPath: textOf(givenMember(selector, 'path')) }}
          schema={schema}
          value={isJsonObject(config) ? config : {}}
          problems={configProblems(problems.filter(({ severity }) => severity === 'error'))}
          onChange={(next) => setEvaluator(objectWith(evaluator, 'config', next), 'config')}
        />
      )}
    </div>
  );
}

/** Warnings about a configuration. The form has problems only, so they name their member. */
function warningsOf(problems: readonly PlacedProblem[]): readonly PlacedProblem[] {
  return problems
    .filter(({ severity, place }) => severity === 'warning' && place.member.startsWith('evaluator.config'))
    .map((problem) => {
      const member = problem.place.member.replace(/^evaluator\.config\.?/, '');
      return { ...problem, message: member === '' ? problem.message : `${member}: ${problem.message}` };
    });
}
