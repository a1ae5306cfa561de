// Operation list: operations in order of arrival, linked both ways through themselves, so that one
// in the middle is taken out without a walk and nothing is allocated.
// Owner: whoever owns the operations in it; an operation is in at most one list.
// Not here: lists per descriptor and direction (wait_table.h).
#pragma once

#include "backend/operation.h"

namespace nephrite {

struct OperationList {
  Operation* head = nullptr;
  Operation* tail = nullptr;

  void append(Operation* operation) {
    operation->next = nullptr;
    operation->previous = tail;
    (tail != nullptr ? tail->next : head) = operation;
    tail = operation;
  }
  void unlink(Operation* operation) {
    (operation->previous != nullptr ? operation->previous->next : head) = operation->next;
    (operation->next != nullptr ? operation->next->previous : tail) = operation->previous;
    operation->next = operation->previous = nullptr;
  }
};

}  // namespace nephrite
