import { Link } from 'wouter';
import { numberOf } from '../ui/numbers.js';
import { REPLAYED_DAYS, type Replay } from './use-replay.js';
import './replay.css';

/** What a change would have decided otherwise, for example `On the last 7 days: +42 denied, −3`. */
export function ReplayFigure({ replay }: { readonly replay: Replay }) {
  return (
    <span className="muted" role="status" aria-label="On recorded samples">
      {figureOf(replay)}
    </span>
  );
}

function figureOf(replay: Replay) {
  switch (replay.kind) {
    case 'none':
      return null;
    case 'running':
      return `On the last ${REPLAYED_DAYS} days: …`;
    case 'failed':
      return `Samples cannot be replayed: ${replay.reason}`;
    case 'done': {
      const { samples, newlyDenied, newlyAllowed, falsePositives, falsePositivesDenied } = replay.summary;
      if (samples === 0n) {
        return (
          <>
            No samples of the last {REPLAYED_DAYS} days. <Link href="/samples">Switch them on</Link>
          </>
        );
      }
      return (
        <span title={`Of ${numberOf(Number(samples), 'sample')} that agents really asked about`}>
          On the last {REPLAYED_DAYS} days: <strong>+{newlyDenied.toLocaleString()} denied</strong>, −
          {newlyAllowed.toLocaleString()}
          {falsePositives > 0n &&
            `; of ${numberOf(Number(falsePositives), 'marked false positive')}, ${falsePositivesDenied.toLocaleString()} denied`}
        </span>
      );
    }
  }
}
