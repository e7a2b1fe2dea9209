module example.com/stepup

go 1.19

require example.com/countersign v0.0.0

replace example.com/countersign => ../../../clients/go
