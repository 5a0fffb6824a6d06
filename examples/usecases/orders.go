package main

import (
	"context"
	"fmt"
	"time"

	"github.com/wakecall/wakecall/client"
)

// closeUnpaidOrder closes an order that is not paid within 30 minutes. A payment cancels the
// timer; the cancel's answer says which of both came first.
func closeUnpaidOrder(ctx context.Context, s *stage) error {
	s.longest = 30 * time.Minute
	for _, order := range []string{"order-1", "order-2"} {
		terms := s.terms(map[string]string{"order": order})
		terms.Delay = client.After(s.played(30 * time.Minute))
		if err := s.put(ctx, order, terms); err != nil {
			return err
		}
		s.printf("%s is placed, and closes in 30 minutes", order)
	}
	if err := s.cancel(ctx, "order-2"); err != nil {
		return err
	}
	s.printf("order-2 is paid, its timer is cancelled")
	closed, err := s.next(ctx)
	if err != nil {
		return err
	}
	closed.answer <- answer{}
	if closed.id != "order-1" {
		return fmt.Errorf("%s was closed, which is paid", closed.id)
	}
	s.printf("order-1 is not paid, and is closed")
	return nil
}

// debitAfterNotice notifies customers of a debit, and debits them 24 hours later unless they
// object. The notice is a timer as well: the debit is booked once the notice has been delivered.
func debitAfterNotice(ctx context.Context, s *stage) error {
	s.longest = 24 * time.Hour
	for _, customer := range []string{"customer-1", "customer-2"} {
		terms := s.terms(map[string]string{"notice": customer})
		terms.Delay = client.After(0)
		if err := s.put(ctx, "notice:"+customer, terms); err != nil {
			return err
		}
		notice, err := s.next(ctx)
		if err != nil {
			return err
		}
		debit := s.terms(map[string]string{"debit": customer})
		debit.Delay = client.After(s.played(24 * time.Hour))
		err = s.put(ctx, "debit:"+customer, debit)
		notice.answer <- answer{}
		if err != nil {
			return err
		}
		s.printf("%s is told of a debit in 24 hours", customer)
	}
	if err := s.cancel(ctx, "debit:customer-2"); err != nil {
		return err
	}
	s.printf("customer-2 objects, the debit is cancelled")
	debit, err := s.next(ctx)
	if err != nil {
		return err
	}
	debit.answer <- answer{}
	if debit.id != "debit:customer-1" {
		return fmt.Errorf("%s came, and its customer had objected", debit.id)
	}
	s.printf("customer-1 is debited")
	return nil
}
