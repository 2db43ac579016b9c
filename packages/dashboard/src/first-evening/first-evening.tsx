import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ProblemList } from '../health/problem-list.js';
import type { ServerView } from '../health/use-server.js';
import { InstallButton } from './install-button.js';
import { RegisterSnippets, SendStepSnippets } from './teaching-snippets.js';
import type { FirstSteps } from './use-first-steps.js';
import './first-evening.css';

interface FirstEveningProps {
  readonly steps: FirstSteps;
  readonly server: ServerView;
}

/** Problems that are no news before the steps are done. */
const EXPECTED: ReadonlySet<string> = new Set(['agents_without_controls', 'agents_silent']);

/** Three steps from an empty service to one that checks an agent. Each is noticed when it is done. */
export function FirstEvening({ steps, server }: FirstEveningProps) {
  const { hasAgent, hasControl, hasStep, agentName, dismiss } = steps;
  const done = [hasAgent, hasControl, hasStep];
  const current = done.indexOf(false);
  return (
    <section className="first-evening" aria-labelledby="first-evening-title">
      <ProblemList problems={server.problems.filter(({ kind }) => !EXPECTED.has(kind))} />
      <div className="page-head">
        <h2 id="first-evening-title">Three steps to a checked agent</h2>
        <button type="button" onClick={dismiss}>
          Hide these steps
        </button>
      </div>
      <p className="visually-hidden" role="status">
        {done.filter(Boolean).length} of 3 steps are done.
      </p>
      <ol>
        <Step title="Register an agent" isDone={hasAgent} isCurrent={current === 0}>
          <p>
            An agent is a program whose steps are checked. It registers itself once, for example when it
            starts:
          </p>
          <RegisterSnippets />
        </Step>
        <Step title="Install a starter policy" isDone={hasControl} isCurrent={current === 1}>
          <p>
            A policy is a set of controls, which say what to check and what to do on a match. The starter
            policy only observes. <Link href="/packs">Packs</Link> have more controls, for one purpose each.
            Or <Link href="/controls/new">write a control</Link> of your own.
          </p>
          <InstallButton />
        </Step>
        <Step title="Send a step" isDone={hasStep} isCurrent={current === 2}>
          <p>
            The agent has each of its steps checked before it takes it. A step can also be tried in the{' '}
            <Link
              href={
                agentName === undefined ? '/playground' : `/playground?agent=${encodeURIComponent(agentName)}`
              }
            >
              playground
            </Link>
            , which counts and records nothing.
          </p>
          <SendStepSnippets {...(agentName === undefined ? {} : { agentName })} />
        </Step>
      </ol>
    </section>
  );
}

interface StepProps {
  readonly title: string;
  readonly isDone: boolean;
  readonly isCurrent: boolean;
  readonly children: ReactNode;
}

function Step({ title, isDone, isCurrent, children }: StepProps) {
  const Icon = isDone ? IconCircleCheckFilled : IconCircleDashed;
  return (
    <li className={isDone ? 'card done' : 'card'} aria-current={isCurrent ? 'step' : undefined}>
      <h3>
        <Icon size={22} aria-hidden="true" />
        {title}
        <span className="muted">{isDone ? 'done' : isCurrent ? 'waiting for it' : 'later'}</span>
      </h3>
      {isCurrent && children}
    </li>
  );
}
