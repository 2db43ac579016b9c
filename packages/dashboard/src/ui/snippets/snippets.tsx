import { useState } from 'react';
import { CopyButton } from '../copy-button.js';
import { Tabs } from '../page/tabs.js';
import './snippets.css';

/** A text to copy: a command or a program. */
export interface Snippet {
  readonly id: string;
  /** Its language, for example `curl`. */
  readonly name: string;
  readonly text: string;
}

interface SnippetsProps {
  /** What the texts do, for example `Register an agent`. */
  readonly label: string;
  readonly snippets: readonly Snippet[];
  /** Whether the texts read a key from the variable SERVICE_API_KEY. */
  readonly readsKey?: boolean;
}

/** The same call in several languages, each with a button that copies it. */
export function Snippets({ label, snippets, readsKey = false }: SnippetsProps) {
  const [selected, setSelected] = useState(snippets[0]?.id ?? '');
  return (
    <div className="snippets">
      <Tabs
        label={label}
        selected={selected}
        onSelect={setSelected}
        tabs={snippets.map(({ id, name, text }) => ({
          id,
          name,
          content: (
            <>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
              <pre className="code" tabIndex={0}>
                {text}
              </pre>
              <CopyButton label={`Copy as ${name}`} text={text} />
            </>
          ),
        }))}
      />
      {readsKey && (
        <p className="muted">
          The key is read from the variable <code>SERVICE_API_KEY</code>: one of <code>SERVICE_API_KEYS</code>{' '}
          of the service or of its keys file.
        </p>
      )}
    </div>
  );
}
