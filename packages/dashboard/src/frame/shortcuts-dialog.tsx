import { useEffect, useId, useRef } from 'react';
import { GO_LETTERS } from '../ui/shortcuts/shortcut-keys.js';
import { useActiveShortcuts, useShortcutsSwitch } from '../ui/shortcuts/shortcuts.js';
import { COMMAND_KEY } from './command-key.js';
import { usePages } from './pages.js';
import './shortcuts-dialog.css';

/** All keys that work here, and a switch for those that are single. */
export default function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [isOn, setOn] = useShortcutsSwitch();
  const shortcuts = useActiveShortcuts();
  const pages = usePages();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const single = new Map(
    shortcuts
      .filter(({ keys }) => !keys.startsWith('g '))
      .map(({ keys, description }) => [keys, description] as const)
      .reverse(),
  );
  return (
    <dialog ref={dialog} className="shortcuts" aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>Keyboard shortcuts</h2>
      <dl>
        <Keys keys={[COMMAND_KEY, 'K']} text="Search pages, agents, controls, policies, traces" />
      </dl>
      <label className="shortcuts-switch">
        <input type="checkbox" checked={isOn} onChange={(event) => setOn(event.target.checked)} />
        Single keys are shortcuts
      </label>
      <dl className={isOn ? '' : 'muted'}>
        {[...single].toSorted().map(([keys, text]) => (
          <Keys key={keys} keys={[keys === ' ' ? 'Space' : keys]} text={text} />
        ))}
        <Keys keys={['e']} text="Edit, on pages that show something to edit" />
        {pages.map(({ path, name }) => {
          const letter = GO_LETTERS[path];
          return letter === undefined ? null : (
            <Keys key={path} keys={['g', letter]} text={`Go to ${name}`} />
          );
        })}
      </dl>
      <div className="dialog-actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

function Keys({ keys, text }: { readonly keys: readonly string[]; readonly text: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{text}</dd>
    </div>
  );
}
