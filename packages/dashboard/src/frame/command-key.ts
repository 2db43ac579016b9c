/** Whether shortcuts are pressed with the command key. */
export const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** The key that is held with a letter, as it is printed on the keyboard. */
export const COMMAND_KEY = IS_MAC ? '⌘' : 'Ctrl';
