/**
 * The scroll position and the focus after Back, Forward, and a reload. Browsers restore them before the lists of a screen have
 * arrived. Needs the Navigation API, because the keys of its entries outlive `replaceState`; without it, browsers do what they can.
 * https://developer.mozilla.org/docs/Web/API/Navigation_API
 */

import { session } from "../api/session.ts";

/** What a user left behind in a history entry. */
interface Place {
  readonly top: number;
  /** The address that the user went to from there. */
  readonly to?: string | undefined;
}

const storedAs = "denrei.places";
/** More entries than users go back. */
const maxPlaces = 50;
/** Afterwards a late list no longer moves the screen. */
const patienceMillis = 10_000;

const places = new Map<string, Place>(JSON.parse(sessionStorage.getItem(storedAs) ?? "[]"));
/** Set while a place is waited for: from Back until the lists have arrived. */
let awaited: Place | undefined;
let stopWaiting: (() => void) | undefined;
let isBack = false;

/** Remembers positions from now on, and restores the one of a reloaded page. */
export function keepScrollPositions(): void {
  if (!("navigation" in window)) return;
  history.scrollRestoration = "manual";
  navigation.addEventListener("navigate", ({ destination, navigationType }) =>
    remember(navigationType === "push" ? destination.url : undefined),
  );
  addEventListener("pagehide", () => remember());
  let { pathname } = location;
  navigation.addEventListener("currententrychange", ({ navigationType }) => {
    const isSameScreen = location.pathname === pathname;
    pathname = location.pathname;
    if (navigationType === "replace") return;
    stopWaiting?.();
    isBack = navigationType === "traverse";
    awaited = isBack ? (places.get(currentKey()) ?? { top: 0 }) : undefined;
    if (isSameScreen) restorePlace();
  });
  awaited = places.get(currentKey());
  restorePlace();
}

/** Whether the user came to this screen by Back or Forward: then the focus returns to the link that they followed from it. */
export const isReturning = (): boolean => isBack;

/** Returns to the user's place on a screen that has just been rendered. */
export function restorePlace(): void {
  const place = awaited;
  stopWaiting?.();
  awaited = place;
  if (place !== undefined) restore(place);
}

const currentKey = (): string => navigation.currentEntry?.key ?? "";

/** Remembers the place in the current entry, and the address that the user goes to. */
function remember(to?: string): void {
  // A logout leaves nothing behind.
  if (session.value === "none") return;
  const key = currentKey();
  const before = places.get(key);
  places.delete(key);
  places.set(key, { top: awaited?.top ?? scrollY, to: to ?? before?.to });
  sessionStorage.setItem(storedAs, JSON.stringify([...places].slice(-maxPlaces)));
}

/** Scrolls and focuses when the lists have arrived. Gives up when the user acts first. */
function restore({ top, to }: Place): void {
  const content = document.getElementById("content");
  if (isBack) content?.focus({ preventScroll: true });
  let isScrolled = false;
  let isFocused = !isBack || to === undefined;

  function attempt(): void {
    if (!isScrolled) {
      scrollTo(0, top);
      isScrolled = Math.abs(scrollY - top) < 2;
    }
    if (!isFocused) {
      const link = linkTo(to);
      link?.focus({ preventScroll: true });
      isFocused = link !== undefined;
    }
    if (isScrolled && isFocused) stop();
  }
  const observer = new MutationObserver(attempt);
  const timer = setTimeout(stop, patienceMillis);
  const acts = ["wheel", "touchstart", "pointerdown", "keydown"];
  function stop(): void {
    observer.disconnect();
    clearTimeout(timer);
    for (const act of acts) removeEventListener(act, stop, true);
    awaited = undefined;
    stopWaiting = undefined;
  }
  stopWaiting = stop;
  for (const act of acts) addEventListener(act, stop, { capture: true, passive: true });
  observer.observe(document.body, { childList: true, subtree: true });
  attempt();
}

/** The link to an address, rather one of the content than one of the navigation. */
const linkTo = (address: string | undefined): HTMLAnchorElement | undefined => {
  const links = [...document.querySelectorAll<HTMLAnchorElement>("a[href]")].filter(
    ({ href }) => href === address,
  );
  return links.find((link) => link.closest("main")) ?? links[0];
};
