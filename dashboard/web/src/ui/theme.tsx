/** The color theme. Defaults to the system's. */
import { effect, signal } from "@preact/signals";
import { themeText as text } from "./text.ts";

/** The themes that a user may choose. */
export const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const storedAs = "denrei.theme";

const stored = (): Theme => themes.find((theme) => theme === localStorage.getItem(storedAs)) ?? "system";

/** The chosen theme. */
export const theme = signal<Theme>(stored());

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(storedAs, theme.value);
});

/** The input for the theme. */
export function ThemePicker() {
  return (
    <label class="field small">
      <span class="label">{text.label}</span>
      <select
        value={theme.value}
        onChange={({ currentTarget }) => {
          theme.value = currentTarget.value as Theme;
        }}
      >
        {themes.map((name) => (
          <option key={name} value={name}>
            {text.themes[name]}
          </option>
        ))}
      </select>
    </label>
  );
}
