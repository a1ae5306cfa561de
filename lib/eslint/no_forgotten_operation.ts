// Rule no-forgotten-operation: a statement that starts an operation and drops it. Nobody waits for
// it, its failure ends the process as an unhandled rejection, and generators such as race() do not
// even start. Waited for means awaited, yield*ed, returned, assigned, passed on, or given a catch.
// Invariants: only calls traced to an import of nephrite are reported; `void sleep(10)` says that
// dropping is meant. The repair is a suggestion: waiting changes the order of what runs.
// Not here: operations stored and never looked at (that needs types).
import type { Rule, SourceCode } from 'eslint';
import { type Node, operationCalled } from './origins.ts';

type CallExpression = Extract<Node, { type: 'CallExpression' }>;

/** The rule object, as ESLint loads it. */
export const noForgottenOperation: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: { description: 'require that an operation is waited for or handled' },
    hasSuggestions: true,
    schema: [],
    messages: {
      forgotten:
        'Nobody waits for {{ name }}(): use `yield*` or `await`, add a catch, or say `void`.',
      addYield: 'Wait for it with `yield*`.',
      addAwait: 'Wait for it with `await`.',
    },
  },
  create(context) {
    const code = context.sourceCode;
    return {
      ExpressionStatement(statement) {
        for (const dropped of droppedCalls(statement.expression)) {
          const name = forgottenIn(code, dropped);
          if (name === undefined) continue;
          const isWhole = code.getText(dropped) === code.getText(statement.expression);
          const suggest = isWhole ? suggestions(code, statement) : [];
          context.report({ node: dropped, messageId: 'forgotten', data: { name }, suggest });
        }
      },
    };
  },
};

/** The calls whose results a statement's expression throws away. */
function droppedCalls(node: Node): CallExpression[] {
  switch (node.type) {
    case 'CallExpression':
      return [node];
    case 'ChainExpression':
      return droppedCalls(node.expression);
    case 'LogicalExpression':
      return droppedCalls(node.right);
    case 'ConditionalExpression':
      return [...droppedCalls(node.consequent), ...droppedCalls(node.alternate)];
    case 'SequenceExpression':
      return node.expressions.flatMap(droppedCalls);
    default:
      return [];
  }
}

/** The operation that a dropped call leaves behind: of itself, or before its then and finally. */
function forgottenIn(code: SourceCode, call: CallExpression): string | undefined {
  const { callee } = call;
  const name = operationCalled(code, callee);
  if (name !== undefined) return name;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined;
  if (callee.computed || callee.object.type !== 'CallExpression') return undefined;
  const method = callee.property.name;
  const isHandled = method === 'then' ? call.arguments.length > 1 : method !== 'finally';
  return isHandled ? undefined : forgottenIn(code, callee.object);
}

function suggestions(
  code: SourceCode,
  statement: Extract<Node, { type: 'ExpressionStatement' }>,
): Rule.SuggestionReportDescriptor[] {
  const word = waitingWord(code, statement);
  if (word === undefined) return [];
  const messageId = word === 'await' ? 'addAwait' : 'addYield';
  return [{ messageId, fix: (fixer) => fixer.insertTextBefore(statement, `${word} `) }];
}

/** How code at this place can wait; undefined in a function that cannot. */
function waitingWord(code: SourceCode, node: Node): 'await' | 'yield*' | undefined {
  const around = code.getAncestors(node).findLast((one) => /Function|StaticBlock/.test(one.type));
  if (around === undefined) return code.ast.sourceType === 'module' ? 'await' : undefined;
  if ('async' in around && around.async) return 'await';
  return 'generator' in around && around.generator ? 'yield*' : undefined;
}
