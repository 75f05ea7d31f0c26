/** The frame around every screen: navigation, namespace, and user. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { logOut, RequestError, session } from "./api/session.ts";
import icon from "./icon.svg";
import { screens } from "./screens.ts";
import { Search } from "./search/search.tsx";
import { frameText as text } from "./text.ts";
import { withLead } from "./ui/lead.ts";
import { NamespacePicker } from "./ui/namespace.tsx";
import { notify } from "./ui/notices.tsx";
import { isReturning } from "./ui/scroll.ts";
import { ThemePicker } from "./ui/theme.tsx";

export function Frame({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  const [open, setOpen] = useState(false);
  const content = useRef<HTMLElement>(null);
  const menu = useRef<HTMLButtonElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    setOpen(false);
    // Keyboard and screen reader users start at the content of a new screen.
    if (shown.current !== path && !isReturning()) content.current?.focus();
    shown.current = path;
  }, [path]);
  useEffect(() => {
    if (!open) return undefined;
    const closeOnEscape = ({ key }: KeyboardEvent) => {
      if (key !== "Escape") return;
      setOpen(false);
      menu.current?.focus();
    };
    addEventListener("keydown", closeOnEscape);
    return () => removeEventListener("keydown", closeOnEscape);
  }, [open]);
  const known = session.value;
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {text.skip}
      </a>
      <header class="side" data-open={open || undefined}>
        <div class="bar">
          <a class="brand" href="/applications">
            <img src={icon} alt="" />
            {text.product}
          </a>
          <Search onLogOut={() => void leave()} />
          <button ref={menu} type="button" class="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
            {text.menu}
          </button>
        </div>
        <NamespacePicker />
        <nav class="navigation" aria-label={text.navigation}>
          {screens.map(
            ({ path: to, name }) =>
              name && (
                <a key={to} href={to} aria-current={isWithin(path, to) ? "page" : undefined}>
                  {name}
                </a>
              ),
          )}
        </nav>
        <div class="foot">
          <ThemePicker />
          {typeof known === "object" && (
            <span class="who">
              {text.loggedInAs} <strong>{known.user}</strong>
            </span>
          )}
          <button type="button" onClick={() => void leave()}>
            {text.logOut}
          </button>
        </div>
      </header>
      <main id="content" class="content" tabIndex={-1} ref={content}>
        {children}
      </main>
    </div>
  );
}

const isWithin = (path: string, parent: string): boolean => path === parent || path.startsWith(`${parent}/`);

async function leave(): Promise<void> {
  try {
    await logOut();
  } catch (error) {
    if (error instanceof RequestError && error.status === 401) location.assign("/");
    else notify("bad", withLead(text.logoutFailed, error as Error));
  }
}
