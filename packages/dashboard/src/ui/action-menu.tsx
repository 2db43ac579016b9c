import { IconChevronDown } from '@tabler/icons-react';
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import './action-menu.css';

interface ActionMenuProps {
  /** Text of the button. */
  readonly label: ReactNode;
  /** What it is called, if the text of the button does not say it. */
  readonly name?: string;
  /** Links and buttons, also those that ask for a confirmation. */
  readonly children: ReactNode;
}

const EDGE = 8;
/** Actions without a question: a link, or a button that is not beside its dialog. */
const AT_ONCE = 'a, .action-list > button';

/**
 * A button that shows the actions that are needed seldom or are dangerous. They are plain links and buttons, so the Tab
 * key goes through them; Escape, a click elsewhere and a followed link hide them.
 */
export function ActionMenu({ label, name, children }: ActionMenuProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const hide = useCallback(() => {
    setOpen(false);
    const isFocusHere =
      document.activeElement === document.body || root.current?.contains(document.activeElement);
    if (isFocusHere) root.current?.querySelector('button')?.focus();
  }, []);
  useEffect(() => {
    const element = root.current;
    if (!isOpen || element === null) return;
    const onPointer = ({ target }: PointerEvent): void => {
      if (target instanceof Node && !element.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', onPointer);
    // The action of a dialog is done, or given up. The event does not bubble.
    element.addEventListener('close', hide, { capture: true });
    return () => {
      document.removeEventListener('pointerdown', onPointer);
      element.removeEventListener('close', hide, { capture: true });
    };
  }, [isOpen, hide]);
  // It ends where the button ends, unless it would leave the window.
  useLayoutEffect(() => {
    const [button, shown] = [root.current?.getBoundingClientRect(), list.current];
    if (!isOpen || button === undefined || shown === null) return;
    const width = shown.offsetWidth;
    const most = document.documentElement.clientWidth - width - EDGE;
    const left = Math.max(EDGE, Math.min(button.right - width, most));
    shown.style.left = `${left - button.left}px`;
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    // A dialog of an action has its own use for the key.
    const isOfDialog = event.target instanceof Element && event.target.closest('dialog') !== null;
    if (event.key !== 'Escape' || !isOpen || isOfDialog) return;
    event.stopPropagation();
    hide();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key is that of the list inside
    <div className="action-menu" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        className="icon"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={name}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
        <IconChevronDown size={16} aria-hidden="true" />
      </button>
      {isOpen && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: links are followed by keys with a click, too
        // biome-ignore lint/a11y/noStaticElementInteractions: the links are inside
        <div
          className="action-list"
          id={id}
          ref={list}
          onClick={({ target }) => target instanceof Element && target.closest(AT_ONCE) && hide()}
        >
          {children}
        </div>
      )}
    </div>
  );
}
