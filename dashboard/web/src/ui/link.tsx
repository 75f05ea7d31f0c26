/** Links to other sites. */
import type { ComponentChildren } from "preact";

/** Whether an address from an object may become a link. */
export const isWebAddress = (address: string): boolean =>
  URL.canParse(address) && ["http:", "https:"].includes(new URL(address).protocol);

/** A link to an address from an object. Only http and https become links; any other address is plain text. */
export function OutLink({
  to,
  children,
  ...rest
}: {
  to: string | undefined;
  class?: string;
  children?: ComponentChildren;
}) {
  if (to === undefined) return null;
  if (!isWebAddress(to)) return <>{children ?? to}</>;
  return (
    <a {...rest} href={to} target="_blank" rel="noopener noreferrer">
      {children ?? to}
    </a>
  );
}
