/** Finds texts for users in the code of the dashboard's page, outside of its catalogs. */
import type { Expression, JsxAttribute, Node, SourceFile as Parsed } from "typescript/unstable/ast";
import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isConditionalExpression,
  isJsxAttribute,
  isJsxElement,
  isJsxExpression,
  isJsxFragment,
  isJsxText,
  isLiteralTypeNode,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isParenthesizedExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
} from "typescript/unstable/ast/is";
import { createVirtualFileSystem } from "typescript/unstable/fs";
import { API } from "typescript/unstable/sync";
import type { SourceFile } from "./imports.ts";

/** A text for users in the code. */
export interface Copy {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Attributes that users see or hear. */
const attributes =
  /^(alt|aria-(description|label|roledescription|valuetext)|data-label|label|placeholder|title)$/;

/** Props of components, and properties of objects, that users see. */
const properties =
  /^(about|caption|consequence|create|createFirst|detail|done|empty|heading|hint|kinds|label|none|placeholder|reason|summary|title|what|word)$/;

/** Elements whose content is code. */
const codeElements: readonly string[] = ["code", "kbd", "pre", "samp"];

/** At least two letters. */
const word = /\p{L}{2}/u;

/** Symbols after numbers. */
const units = /\b(ms|min)\b/g;

/** Several words after a capital letter, or a final period: neither the name of a kind nor a class nor a key. */
const prose = /^\p{Lu}[\p{L}’']*[,:]? \S*\p{L}|^\p{Lu}.*[.…]$/u;

/** All texts for users in files of the page, in order. */
export function copyIn(files: readonly SourceFile[]): readonly Copy[] {
  const options = { noLib: true, noResolve: true, jsx: "preserve" };
  const api = new API({
    cwd: "/",
    fs: createVirtualFileSystem({
      "/tsconfig.json": JSON.stringify({ compilerOptions: options, include: ["**/*"] }),
      ...Object.fromEntries(files.map(({ path, text }) => [`/${path}`, text])),
    }),
  });
  try {
    const [project] = api.updateSnapshot({ openProjects: ["/tsconfig.json"] }).getProjects();
    return files.flatMap(({ path, text }) => {
      const parsed = project?.program.getSourceFile(`/${path}`);
      if (parsed === undefined) throw new Error(`cannot parse ${path}`);
      return copyOf(parsed).map((node) => ({
        path,
        line: text.slice(0, node.getStart(parsed)).split("\n").length,
        text: node.getText(parsed).replace(/\s+/g, " ").trim(),
      }));
    });
  } finally {
    api.close();
  }
}

function copyOf(parsed: Parsed): readonly Node[] {
  const found = new Set<Node>();
  const visit = (node: Node): void => {
    if (isLiteralTypeNode(node) || isError(node)) return;
    for (const one of [...shownBy(node), ...(isProse(node) ? [node] : [])]) found.add(one);
    node.forEachChild(visit);
  };
  visit(parsed);
  return [...found].sort((a, b) => a.pos - b.pos);
}

/** An error of the program, which no user reads. */
const isError = (node: Node): boolean =>
  isNewExpression(node) && /^(Type|Range)?Error$/.test(node.expression.getText());

/** The texts that an element, an attribute, a property, or a list shows. */
function shownBy(node: Node): readonly Node[] {
  if (isJsxElement(node))
    return codeElements.includes(node.openingElement.tagName.getText()) ? [] : node.children.flatMap(wordsOf);
  if (isJsxFragment(node)) return node.children.flatMap(wordsOf);
  if (isJsxAttribute(node)) return isShown(node) ? wordsOf(node.initializer) : [];
  if (isPropertyAssignment(node))
    return properties.test(node.name.getText()) ? wordsOf(node.initializer) : [];
  return isArrayLiteralExpression(node) ? labelsOf(node.elements) : [];
}

function isShown({ name, parent }: JsxAttribute): boolean {
  const ofComponent = /^<\p{Lu}/u.test(parent.parent.getText());
  return attributes.test(name.getText()) || (ofComponent && properties.test(name.getText()));
}

/** The literals with words among the values that an expression may have. */
function wordsOf(node: Node | undefined): readonly Node[] {
  if (node === undefined) return [];
  if (isJsxText(node)) return word.test(node.text) ? [node] : [];
  if (isJsxExpression(node) || isParenthesizedExpression(node)) return wordsOf(node.expression);
  if (isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(wordsOf);
  if (isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    if (operator === "&&") return wordsOf(node.right);
    return ["||", "??", "+"].includes(operator) ? [node.left, node.right].flatMap(wordsOf) : [];
  }
  return word.test(textOf(node).replace(units, "")) && !isTone(node) ? [node] : [];
}

/** The name of a fact or a column, which precedes its value, and the words that follow a tone. */
function labelsOf([first, ...others]: readonly Expression[]): readonly Node[] {
  if (first === undefined || others.length === 0) return [];
  if (isTone(first)) return others.flatMap(wordsOf);
  const isLabel = /^\p{Lu}/u.test(textOf(first)) && others.some((one) => textOf(one) === "");
  return isLabel ? [first, ...others.filter((one) => !isStringLiteral(one)).flatMap(wordsOf)] : [];
}

const isTone = (node: Node): boolean => /^(good|bad|busy|off)$/.test(textOf(node));

const isProse = (node: Node): boolean => prose.test(textOf(node));

/** The fixed text of a literal. */
function textOf(node: Node): string {
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!isTemplateExpression(node)) return "";
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("…");
}
