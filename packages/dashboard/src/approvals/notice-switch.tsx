import { useState } from 'react';
import { CAN_NOTIFY, setNotices, useNotices } from './browser-notices.js';

/** Switches notices of this browser on and off. Nothing where the browser has none. */
export function NoticeSwitch() {
  const isOn = useNotices();
  const [isRefused, setRefused] = useState(false);
  if (!CAN_NOTIFY) return null;
  const toggle = (): void => {
    void setNotices(!isOn).then((permission) => setRefused(permission === 'denied'));
  };
  return (
    <>
      <button type="button" aria-pressed={isOn} onClick={toggle}>
        Notify me in this browser
      </button>
      {isRefused && <span role="status">The browser does not allow notices of this page.</span>}
    </>
  );
}
