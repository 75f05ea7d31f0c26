/** Links to other sites, whose addresses come from objects. */

/** A link to a page of the web; any other address is text. */
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
