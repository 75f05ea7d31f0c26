/** What is around every screen: where one is, where one can go, and as whom. */
import type { ComponentChildren } from "preact";
import { useLocation } from "preact-iso";
import { logOut, session } from "../api/session.ts";
import { NamespacePicker } from "./namespace.tsx";

const places = [["/applications", "Applications"]] as const;

/** The frame. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  const known = session.value;
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/">
          Denrei
        </a>
        <nav aria-label="Screens">
          {places.map(([to, name]) => (
            <a key={to} href={to} aria-current={path.startsWith(to) ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <NamespacePicker />
        <span class="user">{typeof known === "object" ? known.user : ""}</span>
        <button type="button" onClick={() => void logOut()}>
          Log out
        </button>
      </header>
      <main id="content">{children}</main>
    </>
  );
}
