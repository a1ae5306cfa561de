// Rule no-bare-yield: `yield operation` without the star is a foreign yield, and the task ends in a
// trap instead of waiting. Reported in every generator of a file that imports nephrite.
// Invariants: what cannot be a task is left alone: async generators, and generators that are some
// object's [Symbol.iterator]. The repair is a suggestion, never automatic: it changes what runs.
// Not here: plain iterators in files with tasks; they need a disable comment (docs/eslint.md).
import type { Rule, SourceCode } from 'eslint';
import { isNephrite, isRequire, type Node } from './origins.ts';

type YieldExpression = Extract<Node, { type: 'YieldExpression' }>;

/** The rule object, as ESLint loads it. */
export const noBareYield: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'require `yield*` in the generator functions of tasks' },
    hasSuggestions: true,
    schema: [],
    messages: {
      bareYield: '`yield` without a star does not wait: the task traps. Use `yield*`.',
      emptyYield: 'A task cannot `yield` nothing: it traps. A safe point is `yield* checkpoint()`.',
      addStar: 'Wait for it with `yield*`.',
    },
  },
  create(context) {
    const code = context.sourceCode;
    const found: YieldExpression[] = [];
    let importsNephrite = false;
    const sawModule = (source: Node | undefined): void => {
      if (source?.type === 'Literal' && isNephrite(source.value)) importsNephrite = true;
    };
    return {
      ImportDeclaration: (node) => sawModule(node.source),
      ImportExpression: (node) => sawModule(node.source),
      CallExpression(node) {
        if (isRequire(node.callee)) sawModule(node.arguments[0]);
      },
      YieldExpression(node) {
        if (!node.delegate && mayBeTask(code, node)) found.push(node);
      },
      'Program:exit'() {
        if (importsNephrite) for (const node of found) report(context, node);
      },
    };
  },
};

function report(context: Rule.RuleContext, node: YieldExpression): void {
  const keyword = context.sourceCode.getFirstToken(node);
  if (!node.argument || keyword === null) {
    context.report({ node, messageId: 'emptyYield' });
    return;
  }
  const fix = (fixer: Rule.RuleFixer) => fixer.insertTextAfter(keyword, '*');
  context.report({ node, messageId: 'bareYield', suggest: [{ messageId: 'addStar', fix }] });
}

function mayBeTask(code: SourceCode, node: YieldExpression): boolean {
  const ancestors = code.getAncestors(node).reverse();
  const index = ancestors.findIndex((one) => /Function/.test(one.type));
  const [generator, holder] = ancestors.slice(index, index + 2);
  if (generator === undefined || !('async' in generator) || generator.async) return false;
  const isMethod = holder?.type === 'MethodDefinition' || holder?.type === 'Property';
  return !(isMethod && holder.computed && code.getText(holder.key) === 'Symbol.iterator');
}
