import { type KeyboardEvent, type ReactNode, type Ref, useEffect, useId, useRef, useState } from 'react';

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
  const menuItems = (): HTMLElement[] => [
    ...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []),
  ];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the items are read when the menu opens
  useEffect(() => {
    if (!isOpen) return;
    menuItems()[0]?.focus();
    const onPointer = (event: PointerEvent): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', onPointer);
    return () => document.removeEventListener('pointerdown', onPointer);
  }, [isOpen]);

  const close = (): void => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
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
        onClick={() => setOpen(!isOpen)}
      >
        {icon}
        {label}
      </button>
      {isOpen && (
        <div className="menu-list" role="menu" id={id} aria-label={label}>
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
