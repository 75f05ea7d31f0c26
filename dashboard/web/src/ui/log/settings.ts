/** How logs are shown, in all views. Remembered in this browser. */
import { effect, signal } from "@preact/signals";

/** The settings. */
export interface LogSettings {
  readonly wrap: boolean;
  readonly timestamps: boolean;
}

const storedAs = "denrei.log";
const defaults: LogSettings = { wrap: true, timestamps: false };

function stored(): LogSettings {
  try {
    const { wrap = defaults.wrap, timestamps = defaults.timestamps } = JSON.parse(
      localStorage.getItem(storedAs) ?? "{}",
    ) as Partial<LogSettings>;
    return { wrap: wrap === true, timestamps: timestamps === true };
  } catch {
    return defaults;
  }
}

/** The current settings. */
export const logSettings = signal<LogSettings>(stored());

effect(() => localStorage.setItem(storedAs, JSON.stringify(logSettings.value)));
