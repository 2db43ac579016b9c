import { createClient } from '@connectrpc/connect';
import {
  type Destination,
  DestinationType,
  NotificationService,
} from '@gen/enforcement/v1/notification_service_pb.js';
import { type FormEvent, useId, useRef, useState } from 'react';
import { newIdempotencyKey } from '../data/idempotency-key.js';
import { transport } from '../data/transport.js';
import { useRefresh } from '../data/use-change.js';
import { Dialog } from '../ui/dialog.js';
import { Labelled, SelectField, TextField } from '../ui/fields/fields.js';
import { Problem } from '../ui/states.js';
import { KINDS, TYPES } from './destination-text.js';

const notifications = createClient(NotificationService, transport);
const { createDestination, updateDestination } = NotificationService.method;

interface DestinationDialogProps {
  /** The one that is changed; absent for a new one. */
  readonly destination?: Destination;
  readonly onClose: () => void;
  /** Called with the secret of a new webhook. */
  readonly onDone: (destination: Destination | undefined, secret: string | undefined) => void;
}

/** Asks for what a destination is. */
export function DestinationDialog({ destination, onClose, onDone }: DestinationDialogProps) {
  const form = useId();
  const refresh = useRefresh();
  const [type, setType] = useState(destination?.type ?? DestinationType.WEBHOOK);
  const [name, setName] = useState(destination?.name ?? '');
  const [url, setUrl] = useState(type === DestinationType.SLACK ? '' : (destination?.url ?? ''));
  const [recipients, setRecipients] = useState(destination?.recipients.join('\n') ?? '');
  const [kinds, setKinds] = useState<ReadonlySet<string>>(
    () => new Set(destination?.kinds ?? ['approval.asked']),
  );
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  /** The same for every try with the same content, so that no try makes a second destination. */
  const attempt = useRef({ content: '', key: '' });
  const isEmail = type === DestinationType.EMAIL;
  const typed = {
    name,
    kinds: KINDS.map(([kind]) => kind).filter((kind) => kinds.has(kind)),
    ...(isEmail ? { recipients: recipients.split(/[\s,]+/).filter((address) => address !== '') } : {}),
    ...(isEmail || url.trim() === '' ? {} : { url: url.trim() }),
  };
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(null);
    const content = JSON.stringify([type, typed]);
    if (attempt.current.content !== content) attempt.current = { content, key: newIdempotencyKey() };
    try {
      // Not a mutation of the cache, which would keep the secret.
      if (destination === undefined) {
        const made = await notifications.createDestination({
          ...typed,
          type,
          idempotencyKey: attempt.current.key,
        });
        refresh(createDestination);
        onDone(made.destination, made.secret);
      } else {
        const changed = await notifications.updateDestination({ ...typed, destinationId: destination.id });
        refresh(updateDestination);
        onDone(changed.destination, undefined);
      }
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  }
  return (
    <Dialog
      title={destination === undefined ? 'New destination' : 'Change the destination'}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" form={form} className="primary" disabled={isBusy || typed.kinds.length === 0}>
            {destination === undefined ? 'Create' : 'Save'}
          </button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        {destination === undefined && (
          <SelectField
            label="Type"
            options={TYPES.map(([one, text]) => [String(one), text])}
            value={String(type)}
            onChange={(value) => setType(Number(value))}
          />
        )}
        <TextField label="Name" value={name} onChange={setName} />
        {isEmail ? (
          <Labelled label="Addresses, one on each line">
            {(id) => (
              <textarea
                id={id}
                rows={3}
                value={recipients}
                onChange={({ target }) => setRecipients(target.value)}
              />
            )}
          </Labelled>
        ) : (
          <TextField
            label={destination?.type === DestinationType.SLACK ? 'URL (empty: as it is)' : 'URL'}
            value={url}
            onChange={setUrl}
          />
        )}
        <fieldset>
          <legend>Tell it when</legend>
          {KINDS.map(([kind, text]) => (
            <label key={kind} className="check-field">
              <input
                type="checkbox"
                checked={kinds.has(kind)}
                onChange={({ target }) => {
                  const next = new Set(kinds);
                  if (target.checked) next.add(kind);
                  else next.delete(kind);
                  setKinds(next);
                }}
              />
              {text}
            </label>
          ))}
        </fieldset>
        <Problem error={error} />
      </form>
    </Dialog>
  );
}
