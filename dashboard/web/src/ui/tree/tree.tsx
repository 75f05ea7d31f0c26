/** An object with its children, and theirs, as nested lists. */
import { useState } from "preact/hooks";
import { Elapsed } from "../age.tsx";
import { Status } from "../status.tsx";
import type { TreeNode } from "./node.ts";
import { text } from "./text.ts";
import "./tree.css";

/** More children are hidden until the user opens them. */
const maxOpen = 12;

/** A tree. */
export function Tree({ root }: { root: TreeNode }) {
  return (
    <ul class="tree">
      <Node of={root} />
    </ul>
  );
}

function Node({ of: node }: { of: TreeNode }) {
  const { children = [] } = node;
  // Until the user decides, the number of children does.
  const [choice, setChoice] = useState<boolean>();
  const isOpen = choice ?? children.length <= maxOpen;
  return (
    <li>
      <div class="node">
        {children.length > 0 && (
          <button
            type="button"
            class="disclose"
            aria-expanded={isOpen}
            aria-label={text.childrenOf(node.kind, node.name)}
            onClick={() => setChoice(!isOpen)}
          />
        )}
        <Line of={node} />
      </div>
      {isOpen && children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Node key={child.key} of={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Line({ of: { kind, name, health, note, created, screen, log } }: { of: TreeNode }) {
  return (
    <div class="row">
      <span>
        <span class="quiet">{kind}</span> {screen === undefined ? name : <a href={screen}>{name}</a>}
      </span>
      {health && <Status tone={health[0]}>{health[1]}</Status>}
      <span class="quiet small row">
        {note && <span>{note}</span>}
        <Elapsed since={created} />
        {log !== undefined && (
          <a href={log} aria-label={text.logOf(name)}>
            {text.log}
          </a>
        )}
      </span>
    </div>
  );
}
