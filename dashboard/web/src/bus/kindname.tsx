/** A `Kind.group` as on the bus, with the group in a quieter color. */
export function KindName({ of: name }: { of: string }) {
  const [kind = "", ...group] = name.split(".");
  return (
    <span class="kind">
      {kind}
      {group.length > 0 && <span class="quiet small">.{group.join(".")}</span>}
    </span>
  );
}
