import { useEffect, useState } from 'react';

interface CopyButtonProps {
  readonly label: string;
  readonly text: string;
  /** Called when the text is in the clipboard, or shown to be copied by hand. */
  readonly onCopied?: () => void;
}

type Outcome = 'none' | 'copied' | 'by hand';

/** Copies a text. Where the browser has no access to the clipboard, as over plain HTTP, it shows the text selected. */
export function CopyButton({ label, text, onCopied }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>('none');
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is not copied yet
  useEffect(() => setOutcome('none'), [text]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('copied');
    } catch {
      setOutcome('by hand');
    }
    onCopied?.();
  };
  return (
    <span className="copy">
      <button type="button" onClick={copy}>
        {label}
      </button>
      <span role="status" className="muted">
        {outcome === 'copied' && 'Copied.'}
        {outcome === 'by hand' && 'The browser does not let this page copy. Copy this text:'}
      </span>
      {outcome === 'by hand' && (
        <textarea
          readOnly
          rows={3}
          value={text}
          aria-label="Text to copy"
          ref={(field) => {
            field?.focus();
            field?.select();
          }}
        />
      )}
    </span>
  );
}
