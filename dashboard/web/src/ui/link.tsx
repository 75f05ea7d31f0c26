/** Links to other sites. */

/** A link to an address from an object. Only http and https become links; any other address is plain text. */
export function OutLink({ to, children }: { to: string | undefined; children?: string }) {
  if (to === undefined) return null;
  const isPage = URL.canParse(to) && ["http:", "https:"].includes(new URL(to).protocol);
  if (!isPage) return <>{children ?? to}</>;
  return (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {children ?? to}
    </a>
  );
}
