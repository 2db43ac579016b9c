import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

/** An action of a menu. */
export interface MenuItem {
  readonly name: string;
  /** What it does, in a few words. */
  readonly hint?: string;
  readonly run: () => void;
}

interface MenuButtonProps {
  readonly label: string;
  readonly icon: ReactNode;
  readonly items: readonly MenuItem[];
  readonly disabled?: boolean;
  readonly buttonRef?: Ref<HTMLButtonElement>;
}

/** A button that opens a menu, with the keys of the WAI-ARIA pattern. */
export function MenuButton({ label, icon, items, disabled = false, buttonRef }: MenuButtonProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  /** What had the focus when the menu was opened, by a click or by a key of another element. */
  const opener = useRef<Element | null>(null);
  const menuItems = (): HTMLElement[] => [
    ...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []),
  ];
  // In the top layer, no pane around the button cuts the menu off.
  useLayoutEffect(() => {
    const button = root.current?.querySelector('button');
    const menu = list.current;
    if (!isOpen || menu === null || !button) return;
    const place = (): void => placeBeside(button.getBoundingClientRect(), menu);
    menu.showPopover();
    place();
    document.addEventListener('scroll', place, { capture: true });
    window.addEventListener('resize', place);
    return () => {
      document.removeEventListener('scroll', place, { capture: true });
      window.removeEventListener('resize', place);
    };
  }, [isOpen]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the items are read when the menu opens
  useEffect(() => {
    if (!isOpen) return;
    menuItems()[0]?.focus({ preventScroll: true });
    const onPointer = (event: PointerEvent): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', onPointer);
    return () => document.removeEventListener('pointerdown', onPointer);
  }, [isOpen]);

  const close = (): void => {
    setOpen(false);
    const before = opener.current;
    if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus();
    else root.current?.querySelector('button')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return;
    const all = menuItems();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const moves: Record<string, number> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at + all.length - 1) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    const next = moves[event.key];
    if (event.key === 'Tab') setOpen(false);
    if (event.key !== 'Escape' && next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') close();
    else all[next ?? 0]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the menu inside
    <div className="menu-button" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        ref={buttonRef}
        className="icon"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        disabled={disabled}
        onClick={() => {
          opener.current = document.activeElement;
          setOpen(!isOpen);
        }}
      >
        {icon}
        {label}
      </button>
      {isOpen && (
        <div ref={list} popover="manual" className="menu-list" role="menu" id={id} aria-label={label}>
          {items.map(({ name, hint, run }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close();
                run();
              }}
            >
              <strong>{name}</strong>
              {hint !== undefined && <span className="muted">{hint}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

const GAP_PX = 2;
const EDGE_PX = 8;

/** Puts a menu below a button, or above it if there is no room, and not beyond the edge of the window. */
function placeBeside(button: DOMRect, menu: HTMLElement): void {
  const { width, height } = menu.getBoundingClientRect();
  const below = button.bottom + GAP_PX;
  const top = below + height <= window.innerHeight ? below : Math.max(EDGE_PX, button.top - GAP_PX - height);
  const left = Math.max(EDGE_PX, Math.min(button.left, window.innerWidth - width - EDGE_PX));
  menu.style.top = `${top}px`;
  menu.style.left = `${left}px`;
}
