import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import './popover.css';

interface PopoverProps {
  /** Name of what opens. */
  readonly label: string;
  /** What the button shows. */
  readonly button: ReactNode;
  /** Name of the button, if what it shows is not enough. It has the shown text in it. */
  readonly buttonLabel?: string;
  /** Further class of the whole. */
  readonly className?: string;
  readonly children: (close: () => void) => ReactNode;
}

/** Least distance from the edge of the window, in pixels. */
const EDGE = 8;

/** A button that opens a small dialog below it. Escape, a click elsewhere and leaving it with Tab close it. */
export function Popover({ label, button, buttonLabel, className, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const close = (): void => {
    setOpen(false);
    opener.current?.focus();
  };
  useEffect(() => {
    if (!isOpen) return;
    panel.current?.querySelector<HTMLElement>('[data-first], button, input, select')?.focus();
    const onPointerDown = ({ target }: PointerEvent): void => {
      if (target instanceof Node && root.current?.contains(target) === false) setOpen(false);
    };
    document.addEventListener('pointerdown', onPointerDown);
    return () => document.removeEventListener('pointerdown', onPointerDown);
  }, [isOpen]);
  // It ends where the button ends, unless it would leave the window.
  useLayoutEffect(() => {
    const shown = panel.current;
    if (!isOpen || shown === null) return;
    const { left } = shown.getBoundingClientRect();
    if (left < EDGE) shown.style.right = `${left - EDGE}px`;
  }, [isOpen]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only closes what is open
    <div
      ref={root}
      className={className === undefined ? 'popover' : `popover ${className}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget !== null && root.current?.contains(relatedTarget) === false) setOpen(false);
      }}
    >
      <button
        ref={opener}
        type="button"
        aria-label={buttonLabel}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div ref={panel} id={id} role="dialog" aria-label={label} className="popover-panel">
          {children(close)}
        </div>
      )}
    </div>
  );
}
