import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { UserText } from '../ui/user-text.js';
import { completions, pathProblem } from './selector-paths.js';
import { useKnownPaths } from './use-known-paths.js';
import './selector-field.css';

interface SelectorFieldProps {
  readonly value: string;
  readonly onChange: (path: string) => void;
  /** What the server says about the path. */
  readonly problem?: string | undefined;
  /** Its steps give the paths; without a name, those of several agents do. */
  readonly agentName?: string | undefined;
  readonly label?: string;
}

/** The path of a selector: any text, completed from the schemas of registered steps. */
export function SelectorField({
  value,
  onChange,
  problem,
  agentName,
  label = 'Selector',
}: SelectorFieldProps) {
  const id = useId();
  const [isWanted, setWanted] = useState(false);
  const [isOpen, setOpen] = useState(false);
  // Until something is typed, the list shows everything and not only what begins with the old path.
  const [isTyped, setTyped] = useState(false);
  const [active, setActive] = useState(-1);
  const list = useRef<HTMLDivElement>(null);
  const known = useKnownPaths(agentName, isWanted);
  const found = completions(known, isTyped ? value : '');
  const shown = isOpen && found.length > 0;
  const message = problem ?? pathProblem(value);
  useEffect(() => {
    if (active >= 0) list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  const open = (): void => {
    setWanted(true);
    setOpen(true);
  };
  const close = (): void => {
    setOpen(false);
    setTyped(false);
    setActive(-1);
  };
  const choose = (path: string): void => {
    onChange(path);
    close();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const count = found.length;
    const chosen = found[active];
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        event.preventDefault();
        const step = event.key === 'ArrowDown' ? 1 : -1;
        if (!shown) open();
        else if (count > 0)
          setActive(active === -1 && step === -1 ? count - 1 : (active + step + count) % count);
        return;
      }
      case 'Enter':
        if (!shown || chosen === undefined) return;
        event.preventDefault();
        choose(chosen.path);
        return;
      case 'Escape':
        if (!shown) return;
        event.preventDefault();
        event.stopPropagation();
        close();
        return;
      case 'Tab':
        if (shown && chosen !== undefined) choose(chosen.path);
        return;
      default:
        return;
    }
  };

  return (
    <div className="field selector-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="text"
        role="combobox"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown && active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid={message !== null}
        aria-describedby={message === null ? undefined : `${id}-problem`}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        placeholder="* (the whole step)"
        value={value}
        onFocus={() => setWanted(true)}
        onClick={open}
        onBlur={close}
        onChange={(event) => {
          open();
          setTyped(true);
          setActive(-1);
          onChange(event.target.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Paths"
        className="selector-list"
        hidden={!shown}
        ref={list}
      >
        {shown &&
          found.map(({ path, note }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys of the list
            // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus and names the active option
            <div
              key={path}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === active}
              // The input must not lose the focus before the click.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(path)}
            >
              <code>
                <UserText text={path} max={80} />
              </code>
              <span className="muted">
                <UserText text={note} />
              </span>
            </div>
          ))}
      </div>
      {message !== null && (
        <p id={`${id}-problem`} className="problem" dir="auto">
          {message}
        </p>
      )}
    </div>
  );
}
