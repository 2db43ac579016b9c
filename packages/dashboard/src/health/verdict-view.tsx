import { IconAlertTriangle, IconCircleCheck, IconHelpCircle, IconPlugConnectedX } from '@tabler/icons-react';
import { numberOf } from '../ui/numbers.js';
import { TimeText } from '../ui/time-text.js';
import { ProblemList } from './problem-list.js';
import type { ServerView } from './use-server.js';
import { VERDICT_TEXTS } from './verdict.js';
import './health.css';

const ICONS = {
  checking: IconHelpCircle,
  working: IconCircleCheck,
  attention: IconAlertTriangle,
  unreachable: IconPlugConnectedX,
} as const;

interface VerdictViewProps {
  readonly server: Pick<ServerView, 'word' | 'problems' | 'seenAtMs'>;
  /** What the verdict is on, if not the whole service. */
  readonly of?: string;
}

/** Whether all of it works, and else what does not, each line with its cause. */
export function VerdictView({ server, of }: VerdictViewProps) {
  const { word, problems, seenAtMs } = server;
  const Icon = ICONS[word];
  const faults = problems.filter(({ severity }) => severity !== 'notice').length;
  return (
    <section className={`health-verdict ${word}`} aria-label="Verdict">
      <p className="health-word" role="status">
        <Icon size={26} aria-hidden="true" />
        <strong>{VERDICT_TEXTS[word]}</strong>
        <span className="muted">
          {word === 'working' && (of ?? 'Steps are evaluated, and no agent or control has a problem.')}
          {word === 'attention' && numberOf(faults, 'problem')}
          {word === 'unreachable' && seenAtMs > 0 && (
            <>
              last seen <TimeText time={new Date(seenAtMs).toISOString()} isExact />
            </>
          )}
        </span>
      </p>
      <ProblemList problems={problems} />
    </section>
  );
}
