import { type ControlDefinition, Execution } from '@gen/enforcement/v1/control_pb.js';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { DecisionBadge } from './decision-badge.js';
import { actionSentence, type ConditionWords, conditionWords, scopeWords } from './definition-words.js';
import type { Words } from './leaf-words.js';
import { approvalWords, changeWords } from './lift-words.js';
import { signOfDecision } from './sign.js';
import './controls.css';

const COMPOSITES = {
  and: ['AND', 'all of these hold'],
  or: ['OR', 'at least one of these holds'],
  not: ['NOT', 'this does not hold'],
} as const;

/** The leaf of a condition that decided a check, as its event names it. */
export interface DecidingLeaf {
  readonly path: string;
  readonly evaluator: string;
}

interface DefinitionViewProps {
  readonly data: ControlDefinition;
  readonly decidedBy?: DecidingLeaf | undefined;
  /** The control, if the viewer can change it: then each check leads to the editor. */
  readonly editedControl?: number | undefined;
}

/** A definition in words: which steps, what is checked, and what a match does. */
export function DefinitionView({ data, decidedBy, editedControl }: DefinitionViewProps) {
  const condition = data.condition === undefined ? undefined : conditionWords(data.condition);
  const guidance = data.action?.steeringContext;
  return (
    <div className="definition">
      <Part title="When">
        <p>
          <Sentence words={scopeWords(data.scope)} />.
          {data.execution === Execution.SDK && ' The client library evaluates it, not this service.'}
        </p>
      </Part>
      <Part title="What">
        {condition === undefined ? (
          <p className="muted">The definition has no condition, so it checks nothing.</p>
        ) : (
          <ul className="condition">
            <Node node={condition} decidedBy={decidedBy} editedControl={editedControl} />
          </ul>
        )}
      </Part>
      <Part title="Then">
        <p className="decision">
          <DecisionBadge sign={signOfDecision(data.action?.decision)} />
          {actionSentence(data.action)}
        </p>
        <Sentences of={data.action?.approval === undefined ? [] : approvalWords(data.action.approval)} />
        <Sentences of={data.action?.modify.map(changeWords) ?? []} />
        {guidance?.message !== undefined && (
          <blockquote className="guidance" dir="auto">
            {guidance.message}
          </blockquote>
        )}
        {guidance !== undefined && guidance.requiredActions.length > 0 && (
          <>
            <p>Before it tries again, the agent must:</p>
            <ul>
              {guidance.requiredActions.map((action) => (
                <li key={action} dir="auto">
                  {action}
                </li>
              ))}
            </ul>
          </>
        )}
      </Part>
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Sentences({ of }: { readonly of: readonly (readonly Words[])[] }) {
  if (of.length === 0) return null;
  return (
    <ul>
      {of.map((words, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sentences have no other identity
        <li key={at}>
          <Sentence words={words} />
        </li>
      ))}
    </ul>
  );
}

interface NodeProps {
  readonly node: ConditionWords;
  readonly decidedBy: DecidingLeaf | undefined;
  readonly editedControl: number | undefined;
}

function Node({ node, decidedBy, editedControl }: NodeProps) {
  if (node.kind === 'leaf') {
    const decided = node.path === decidedBy?.path && node.evaluator === decidedBy?.evaluator;
    return (
      <li className={decided ? 'leaf decided' : 'leaf'}>
        <Sentence words={node.words} />
        {decided && <strong className="decided-mark"> ← decided the check</strong>}
        {editedControl !== undefined && (
          <Link className="change-check" href={editAddress(editedControl, node)}>
            Change this check
          </Link>
        )}
      </li>
    );
  }
  const [word, meaning] = COMPOSITES[node.kind];
  return (
    <li>
      <strong>{word}</strong> <span className="muted">{meaning}</span>
      <ul>
        {node.children.map((child, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: nodes have no other identity and never move
          <Node key={index} node={child} decidedBy={decidedBy} editedControl={editedControl} />
        ))}
      </ul>
    </li>
  );
}

/** Address of the editor with the check selected. */
function editAddress(controlId: number, { place }: ConditionWords): string {
  return `/controls/${controlId}/edit?node=${encodeURIComponent(place)}`;
}

function Sentence({ words }: { readonly words: readonly Words[] }) {
  return words.map(({ text, isCode }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a sentence have no other identity
    <span key={index}>
      {index > 0 && ' '}
      {isCode ? <code dir="auto">{text}</code> : text}
    </span>
  ));
}
