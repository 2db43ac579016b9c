import { type ReactNode, useState } from 'react';
import { Dialog } from '../ui/dialog.js';

interface DraftOfferProps {
  readonly savedAt: number;
  readonly title: string;
  readonly onContinue: () => void;
  readonly onDiscard: () => void;
  readonly children?: ReactNode;
}

/** Asks what becomes of a draft, before anything else is written in its place. */
export function DraftOffer({ savedAt, title, onContinue, onDiscard, children }: DraftOfferProps) {
  const [isUndecided, setUndecided] = useState(false);
  return (
    <Dialog
      title={`You have an unsaved draft from ${timeOf(savedAt)}`}
      onClose={() => setUndecided(true)}
      actions={
        <>
          <button type="button" onClick={onDiscard}>
            Discard
          </button>
          <button type="button" className="primary" onClick={onContinue}>
            Continue
          </button>
        </>
      }
    >
      <p dir="auto">{title}</p>
      {children}
      {isUndecided && <p role="status">Continue the draft, or discard it: a new one would take its place.</p>}
    </Dialog>
  );
}

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** The time of today, or the day too. */
export function timeOf(savedAt: number): string {
  const date = new Date(savedAt);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? TIME : DAY).format(date);
}
