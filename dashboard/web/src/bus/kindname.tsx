/** The name of a kind. */

/** `Kind.group` as it is on the bus, with the group less loud than the kind. */
export function KindName({ of: name }: { of: string }) {
  const [kind = "", ...group] = name.split(".");
  return (
    <span class="kind">
      {kind}
      {group.length > 0 && <span class="quiet small">.{group.join(".")}</span>}
    </span>
  );
}
